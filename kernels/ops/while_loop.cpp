// while_loop: a function applied to carried values again and again, while another one says so.
#include "kernels/derivative.h"
#include "kernels/lowering.h"
#include "kernels/ops/while_run.h"
#include "src/core/check.h"

namespace groove {
namespace {

TypeResult type_of(const Signature& s) {
  const auto carried = static_cast<std::size_t>(s.attr().integer(0));
  const Graph& condition = interned_graph(s.attr().integer(1));
  const Graph& body = interned_graph(s.attr().integer(2));
  GROOVE_CHECK(carried <= s.inputs.size() && body.outputs.size() >= carried &&
                   condition.numbers.size() + body.numbers.size() == s.numbers.size() &&
                   condition.outputs.size() == 1 &&
                   element_count(condition.type(condition.outputs[0].value).sizes) == 1,
               "while_loop: the attributes do not fit the operands");
  check_operands(s, condition, 0, s.inputs);
  check_operands(s, body, 0, s.inputs);
  std::vector<Type> types = output_types(body);
  types.resize(carried);
  for (std::size_t k = 0; k < carried; ++k)
    GROOVE_CHECK(types[k] == s.inputs[k], "while_loop: carried value {} changes its type", k);
  return {types, types.empty() ? kFloat : types[0].dtype};
}

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  WhileRun loop(s.attr().integer(1), s.attr().integer(2), outputs.size(), s.attr().integer(3),
                s.numbers);
  const Tensors last = loop.run(inputs, nullptr);
  for (std::size_t k = 0; k < outputs.size(); ++k) copy_bytes(last[k], outputs[k]);
}

// One operator runs the loop again and then backwards.
Tensors gradient(const Grad& g) {
  const std::size_t carried = g.cotangents.size(), inputs = g.input_types.size();
  kernels::SplitRequest request;
  request.whole.graph = g.attr().integer(2);
  request.first_kept = static_cast<std::int32_t>(carried);
  Tensors seeds, cotangents;
  for (std::size_t i = 0; i < inputs; ++i) {
    const bool is_wanted = i < carried ? is_floating(g.input_types[i].dtype) : g.needs[i];
    request.later.push_back(i < carried ? kernels::Later::kGone : kernels::Later::kInvariant);
    request.whole.wanted.push_back(is_wanted);
    request.whole.seeded.push_back(is_wanted);
    if (!is_wanted) continue;
    seeds.push_back(g.accumulated[i].defined() ? g.accumulated[i] : nothing_yet(g.input_types[i]));
    if (i < carried)
      cotangents.push_back(g.cotangents[i].defined() ? g.cotangents[i]
                                                     : nothing_yet(g.input_types[i]));
  }
  for (std::size_t k = 0; k < carried; ++k) request.whole.given.push_back(request.whole.wanted[k]);
  const std::size_t first = interned_graph(g.attr().integer(1)).numbers.size();
  const ArrayRef<Scalar> numbers = g.numbers.slice(first, g.numbers.size() - first);
  request.whole.graph = kernels::with_residuals(request, numbers);
  const std::size_t outputs = interned_graph(request.whole.graph).outputs.size();
  request.whole.given.resize(outputs, 0);
  const kernels::SplitDerivative split = kernels::split_derivative(request, numbers);

  Tensors operands = g.all_inputs();
  operands.insert(operands.end(), seeds.begin(), seeds.end());
  operands.insert(operands.end(), cotangents.begin(), cotangents.end());
  WhileBackward call{
      g.attr().integer(1), request.whole.graph, split.backward, carried, cotangents.size(), {},
      g.attr().integer(3)};
  call.residuals.assign(split.residuals.begin(), split.residuals.end());
  return in_their_places(call_while_backward(call, operands, g.numbers, Site::current()),
                         request.whole.wanted, 0);
}

const Op& while_op() {
  static const Op& op =
      define({.name = "while_loop",
              .kind = OpKind::kOpaque,
              .inputs = -1,
              .outputs = -1,
              .attributes = {{"carried", AttrType::kInt},
                             {"condition", AttrType::kGraph},
                             {"body", AttrType::kGraph},
                             {"max_iterations", AttrType::kInt}},
              .type = type_of,
              .lowering = kernels::lower(kernels::OpaqueLowering{
                  .run = run,
                  .nanoseconds =
                      [](const Signature& s) {
                        constexpr double kGuess = 16;  // iterations
                        return kGuess * subgraph_nanoseconds(interned_graph(s.attr().integer(2)));
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
[[maybe_unused]] const Op& registered = while_op();

}  // namespace

bool has_limit(const Node& node) {
  return node.op == &while_op() && AttrReader(*node.op, node.attrs).integer(3) >= 0;
}

WhileRun::WhileRun(std::int64_t condition, std::int64_t body, std::size_t carried,
                   std::int64_t max_iterations, ArrayRef<Scalar> numbers)
    : carried_(carried),
      max_iterations_(max_iterations),
      condition_(condition, numbers.slice(0, interned_graph(condition).numbers.size())),
      body_(body, numbers.slice(interned_graph(condition).numbers.size(),
                                interned_graph(body).numbers.size())) {}

Tensors WhileRun::run(ArrayRef<Tensor> inputs,
                      const std::function<void(ArrayRef<Tensor>)>& on_turn) {
  Tensors now(inputs.begin(), inputs.end());
  Tensors turns[2];
  const Tensors goes_on = kernels::make_outputs(condition_.graph());
  for (std::int64_t turn = 0;; ++turn) {
    condition_.key_draws(static_cast<std::uint64_t>(turn));
    body_.key_draws(static_cast<std::uint64_t>(turn));
    condition_(now, goes_on);
    const TensorImpl& answer = *goes_on[0].impl();
    if (!host_value(answer.data(), answer.dtype).toBool()) break;
    GROOVE_CHECK(max_iterations_ < 0 || turn < max_iterations_,
                 "while_loop: the condition still holds after {} iterations; raise "
                 "max_iterations, or see why it never becomes false",
                 max_iterations_);
    Tensors& next = turns[turn % 2];
    // What somebody keeps of a turn stays as it is.
    if (next.empty() || on_turn) next = kernels::make_outputs(body_.graph());
    body_(now, next);
    if (on_turn) on_turn(next);
    for (std::size_t k = 0; k < carried_; ++k) now[k] = next[k];
  }
  now.resize(carried_);
  return now;
}

Tensors call_while(std::int64_t condition, std::int64_t body, std::size_t carried,
                   std::int64_t max_iterations, ArrayRef<Tensor> operands, ArrayRef<Scalar> numbers,
                   Site site) {
  const Attrs attrs =
      Attrs().add(static_cast<std::int64_t>(carried)).add(condition).add(body).add(max_iterations);
  Tensors outputs(carried);
  dispatch(Call{&while_op(), operands, &attrs, numbers, site}, outputs.data());
  if (max_iterations >= 0 || may_throw(interned_graph(condition)) ||
      may_throw(interned_graph(body)))
    look_at(outputs);
  return outputs;
}

}  // namespace groove
