// cond: one of two functions, chosen by a value that is known only when the operator runs.
#include "groove/ops/creation.h"
#include "kernels/derivative.h"
#include "kernels/lowering.h"
#include "kernels/ops/control_flow.h"
#include "src/core/check.h"
#include "src/core/host_value.h"

namespace groove {
namespace {

const Op& cond_op();

// Entry numbers: those of the first graph, then those of the second.
struct Branch {
  std::int64_t graph;
  ArrayRef<Scalar> numbers;
};
Branch branch_of(const Op& op, const Attrs& attrs, ArrayRef<Scalar> numbers, bool is_true) {
  const AttrReader attr(op, attrs);
  const std::size_t first = interned_graph(attr.integer(1)).numbers.size();
  GROOVE_CHECK(first + interned_graph(attr.integer(2)).numbers.size() == numbers.size(),
               "cond: {} numbers do not fit its functions", numbers.size());
  return is_true ? Branch{attr.integer(1), numbers.slice(0, first)}
                 : Branch{attr.integer(2), numbers.slice(first, numbers.size() - first)};
}

TypeResult type_of(const Signature& s) {
  GROOVE_CHECK(!s.inputs.empty() && element_count(s.inputs[0].sizes) == 1,
               "cond: the predicate has shape {}; it must have one element",
               s.inputs.empty() ? "?" : to_string(s.inputs[0].sizes));
  const Graph& if_true = interned_graph(s.attr().integer(1));
  const Graph& if_false = interned_graph(s.attr().integer(2));
  branch_of(s.op, s.attrs, s.numbers, true);
  const ArrayRef<Type> operands = s.inputs.slice(1, s.inputs.size() - 1);
  check_operands(s, if_true, 0, operands);
  check_operands(s, if_false, 0, operands);
  std::vector<Type> types = output_types(if_true);
  GROOVE_CHECK(types == output_types(if_false) &&
                   static_cast<std::int64_t>(types.size()) == s.attr().integer(0),
               "cond: the two functions give different types");
  return {types, types.empty() ? kFloat : types[0].dtype};
}

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  const TensorImpl& predicate = *inputs[0].impl();
  const bool is_true = host_value(predicate.data(), predicate.dtype).toBool();
  const Branch taken = branch_of(s.op, s.attrs, s.numbers, is_true);
  kernels::SubgraphRun graph(taken.graph, taken.numbers);
  graph(inputs.slice(1, inputs.size() - 1), outputs);
}

// A cond over the derivatives of both functions, so that it has a derivative itself.
Tensors gradient(const Grad& g) {
  const std::size_t operands = g.input_types.size() - 1;
  kernels::DerivativeRequest request;
  Tensors seeds, cotangents;
  for (std::size_t i = 0; i < operands; ++i) {
    const bool is_wanted = g.needs[i + 1];
    request.wanted.push_back(is_wanted);
    request.seeded.push_back(is_wanted && g.accumulated[i + 1].defined());
    if (request.seeded.back()) seeds.push_back(g.accumulated[i + 1]);
  }
  for (const Tensor& cotangent : g.cotangents) {
    request.given.push_back(cotangent.defined());
    if (cotangent.defined()) cotangents.push_back(cotangent);
  }
  std::int64_t graphs[2];
  for (const bool is_true : {true, false}) {
    const Branch branch = branch_of(g.op, g.attrs, g.numbers, is_true);
    request.graph = branch.graph;
    graphs[is_true ? 0 : 1] = kernels::derivative(request, branch.numbers);
  }
  Tensors inputs = g.all_inputs();
  inputs.insert(inputs.end(), seeds.begin(), seeds.end());
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  return in_their_places(call_cond(graphs[0], graphs[1], inputs, g.numbers, Site::current()),
                         request.wanted, 1);
}

const Op& cond_op() {
  static const Op& op =
      define({.name = "cond",
              .kind = OpKind::kOpaque,
              .inputs = -1,
              .outputs = -1,
              .attributes = {{"outputs", AttrType::kInt},
                             {"if_true", AttrType::kGraph},
                             {"if_false", AttrType::kGraph}},
              .type = type_of,
              .lowering = kernels::lower(kernels::OpaqueLowering{
                  .run = run,
                  .nanoseconds =
                      [](const Signature& s) {
                        return subgraph_nanoseconds(interned_graph(s.attr().integer(1)));
                      },
                  .takes_halves = true,
                  .has_regions = true}),
              .gradient = gradient,
              .saves_inputs = ~0u,
              .accumulates = true,
              .mutates = {},
              .has_inplace = false});
  return op;
}
[[maybe_unused]] const Op& registered = cond_op();

}  // namespace

Tensors call_cond(std::int64_t if_true, std::int64_t if_false, ArrayRef<Tensor> operands,
                  ArrayRef<Scalar> numbers, Site site) {
  const std::size_t count = interned_graph(if_true).outputs.size();
  const Attrs attrs = Attrs().add(static_cast<std::int64_t>(count)).add(if_true).add(if_false);
  Tensors outputs(count);
  dispatch(Call{&cond_op(), operands, &attrs, numbers, site}, outputs.data());
  if (may_throw(interned_graph(if_true)) || may_throw(interned_graph(if_false))) look_at(outputs);
  return outputs;
}

}  // namespace groove
