// The gradient of a while_loop: the loop runs once more and keeps on the heap what each turn's
// derivative reads; then the derivatives run from the last turn to the first.
#include "kernels/lowering.h"
#include "kernels/ops/while_run.h"
#include "src/core/check.h"

namespace groove {
namespace {

struct Parts {
  std::size_t outputs, carried, cotangents, loop_inputs;
};
Parts parts_of(const Signature& s) {
  const AttrReader attr = s.attr();
  Parts parts{static_cast<std::size_t>(attr.integer(0)), static_cast<std::size_t>(attr.integer(4)),
              static_cast<std::size_t>(attr.integer(5)), 0};
  GROOVE_CHECK(
      parts.outputs <= s.inputs.size() && parts.cotangents <= s.inputs.size() - parts.outputs,
      "while_loop_backward: the attributes do not fit the operands");
  parts.loop_inputs = s.inputs.size() - parts.outputs - parts.cotangents;
  GROOVE_CHECK(parts.carried <= parts.loop_inputs && parts.cotangents <= parts.outputs,
               "while_loop_backward: the attributes do not fit the operands");
  return parts;
}

TypeResult type_of(const Signature& s) {
  const Parts parts = parts_of(s);
  const ArrayRef<Type> seeds = s.inputs.slice(parts.loop_inputs, parts.outputs);
  check_operands(s, interned_graph(s.attr().integer(1)), 0, s.inputs.slice(0, parts.loop_inputs));
  check_operands(s, interned_graph(s.attr().integer(2)), 0, s.inputs.slice(0, parts.loop_inputs));
  const Graph& condition = interned_graph(s.attr().integer(1));
  const Graph& body = interned_graph(s.attr().integer(2));
  const Graph& backward = interned_graph(s.attr().integer(3));
  std::vector<Type> operands(s.inputs.begin() + static_cast<std::ptrdiff_t>(parts.carried),
                             s.inputs.begin() + static_cast<std::ptrdiff_t>(parts.loop_inputs));
  for (const std::int64_t k : s.attr().integers(6))
    GROOVE_CHECK(k >= 0 && k < static_cast<std::int64_t>(body.outputs.size()),
                 "while_loop_backward: the body has no output {}", k);
  for (const std::int64_t k : s.attr().integers(6))
    operands.push_back(body.type(body.outputs[static_cast<std::size_t>(k)].value));
  operands.insert(operands.end(), s.inputs.begin() + static_cast<std::ptrdiff_t>(parts.loop_inputs),
                  s.inputs.end());
  check_operands(s, backward, 0, operands);
  GROOVE_CHECK(output_types(backward) == seeds.vec() && body.outputs.size() >= parts.carried &&
                   condition.outputs.size() == 1 &&
                   condition.numbers.size() + body.numbers.size() == s.numbers.size() &&
                   backward.numbers.size() == body.numbers.size(),
               "while_loop_backward: the attributes do not fit the operands");
  return {seeds.vec(), seeds.empty() ? kFloat : seeds[0].dtype};
}

// Inputs of the derivative: what the loop closes over, the residuals of the turn, seeds,
// cotangents; the seeds of carried values count in the first turn only, which comes last.
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  const Parts parts = parts_of(s);
  const IntArrayRef kept = s.attr().integers(6);
  std::vector<Tensors> turns;
  WhileRun loop(s.attr().integer(1), s.attr().integer(2), parts.carried, s.attr().integer(7),
                s.numbers);
  loop.run(inputs.slice(0, parts.loop_inputs), [&](ArrayRef<Tensor> results) {
    Tensors& turn = turns.emplace_back();
    for (const std::int64_t k : kept) turn.push_back(results[static_cast<std::size_t>(k)]);
  });
  const std::size_t first = interned_graph(s.attr().integer(1)).numbers.size();
  kernels::SubgraphRun derivative(s.attr().integer(3),
                                  s.numbers.slice(first, s.numbers.size() - first));
  const ArrayRef<Tensor> seeds = inputs.slice(parts.loop_inputs, parts.outputs);
  Tensors cotangents, sums(seeds.begin() + parts.cotangents, seeds.end()), none;
  for (std::size_t k = 0; k < parts.cotangents; ++k) {
    cotangents.push_back(inputs[parts.loop_inputs + parts.outputs + k]);
    const TensorImpl& impl = *seeds[k].impl();
    none.push_back(make_empty(impl.geometry.sizes, impl.dtype));
    fill_with_nothing(none.back());
  }
  Tensors gradients[2];
  for (std::size_t turn = turns.size(); turn-- > 0;) {
    Tensors operands(inputs.begin() + parts.carried, inputs.begin() + parts.loop_inputs);
    operands.insert(operands.end(), turns[turn].begin(), turns[turn].end());
    for (std::size_t k = 0; k < parts.cotangents; ++k)
      operands.push_back(turn == 0 ? seeds[k] : none[k]);
    operands.insert(operands.end(), sums.begin(), sums.end());
    operands.insert(operands.end(), cotangents.begin(), cotangents.end());
    Tensors& to = gradients[turn % 2];
    if (to.empty()) to = kernels::make_outputs(derivative.graph());
    derivative.key_draws(turn);
    derivative(operands, to);
    for (std::size_t k = 0; k < to.size(); ++k)
      (k < parts.cotangents ? cotangents[k] : sums[k - parts.cotangents]) = to[k];
    turns[turn].clear();
  }
  for (std::size_t k = 0; k < parts.outputs; ++k) {
    if (k >= parts.cotangents)
      copy_bytes(sums[k - parts.cotangents], outputs[k]);
    else if (turns.empty())
      add_elements(seeds[k], cotangents[k], outputs[k]);
    else
      copy_bytes(cotangents[k], outputs[k]);
  }
}

const Op& backward_op() {
  static const Op& op = define(
      {.name = "while_loop_backward",
       .kind = OpKind::kOpaque,
       .inputs = -1,
       .outputs = -1,
       .attributes = {{"outputs", AttrType::kInt},
                      {"condition", AttrType::kGraph},
                      {"body", AttrType::kGraph},
                      {"backward", AttrType::kGraph},
                      {"carried", AttrType::kInt},
                      {"cotangents", AttrType::kInt},
                      {"residuals", AttrType::kInts},
                      {"max_iterations", AttrType::kInt}},
       .type = type_of,
       .lowering = kernels::lower(kernels::OpaqueLowering{
           .run = run,
           .nanoseconds =
               [](const Signature& s) {
                 constexpr double kGuess = 48;
                 return kGuess * subgraph_nanoseconds(interned_graph(s.attr().integer(2)));
               },
           .takes_halves = true,
           .has_regions = true}),
       .gradient =
           [](const Grad& g) {
             const AttrReader attr = g.attr();
             return while_backward_gradient(
                 {attr.integer(1), attr.integer(2), attr.integer(3),
                  static_cast<std::size_t>(attr.integer(4)),
                  static_cast<std::size_t>(attr.integer(5)), attr.integers(6).vec(),
                  attr.integer(7)},
                 g);
           },
       .saves_inputs = ~0u,
       .mutates = {},
       .has_inplace = false});
  return op;
}
[[maybe_unused]] const Op& registered = backward_op();

}  // namespace

Tensors call_while_backward(const WhileBackward& call, ArrayRef<Tensor> operands,
                            ArrayRef<Scalar> numbers, Site site) {
  const std::size_t inputs = interned_graph(call.body).inputs.size();
  const std::size_t count = operands.size() - inputs - call.cotangents;
  const Attrs attrs = Attrs()
                          .add(static_cast<std::int64_t>(count))
                          .add(call.condition)
                          .add(call.body)
                          .add(call.backward)
                          .add(static_cast<std::int64_t>(call.carried))
                          .add(static_cast<std::int64_t>(call.cotangents))
                          .add(IntArrayRef(call.residuals))
                          .add(call.max_iterations);
  Tensors outputs(count);
  dispatch(Call{&backward_op(), operands, &attrs, numbers, site}, outputs.data());
  return outputs;
}

}  // namespace groove
