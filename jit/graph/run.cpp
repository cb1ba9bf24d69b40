// Running a graph operator by operator, through the dispatcher: as if its lines stood there.
#include "jit/graph/state.h"

#include "groove/autograd.h"
#include "kernels/lowering.h"
#include "kernels/node_values.h"
#include "kernels/subgraph_run.h"
#include "src/core/dispatch.h"
#include "src/core/generator.h"

namespace groove::jit {

using detail::GraphState;

namespace detail {

Tensors all_inputs(const GraphState& state, const Tensors& arguments) {
  Tensors inputs;
  std::size_t next = 0;
  for (std::size_t i = 0; i < state.weights.size(); ++i) {
    const groove::Value& value = state.value(state.graph.inputs[i].value);
    const bool is_argument = !state.weights[i].defined();
    if (is_argument && next >= arguments.size()) {
      ++next;
      continue;
    }
    const Tensor& tensor = is_argument ? arguments[next++] : state.weights[i];
    const std::string what = is_argument ? fmt::format("argument {}", next - 1) : "weight";
    GROOVE_CHECK(tensor.defined(), "graph: {} `{}` is undefined", what, value.name);
    const Type type{tensor.impl()->dtype, tensor.impl()->geometry.sizes};
    GROOVE_CHECK(type == value.type,
                 "graph: {} `{}` is {}{}, the graph was made for {}{}; convert it, or capture the "
                 "function again",
                 what, value.name, short_name(type.dtype), to_string(type.sizes),
                 short_name(value.type.dtype), to_string(value.type.sizes));
    inputs.push_back(tensor);
  }
  GROOVE_CHECK(next == arguments.size(), "graph: takes {} arguments, not {}", next,
               arguments.size());
  return inputs;
}

std::vector<Scalar> numbers_for_run(const GraphState& state) {
  std::vector<Scalar> numbers;
  for (std::size_t i = 0; i < state.numbers.size(); ++i) {
    GROOVE_CHECK(state.numbers[i],
                 "graph: the number #{} has no value; give it one in the text: `#{}: {} = …`", i, i,
                 short_name(state.graph.numbers[i]));
    numbers.push_back(*state.numbers[i]);
  }
  if (state.draws == 0) return numbers;
  const Draw first = draw_many(state.draws);
  for (const kernels::DrawEntry& pair : kernels::draws_of(state.graph)) {
    numbers[static_cast<std::size_t>(pair.seed)] = static_cast<std::int64_t>(first.seed);
    Scalar& draw = numbers[static_cast<std::size_t>(pair.draw)];
    draw = static_cast<std::int64_t>(first.number + static_cast<std::uint64_t>(draw.to_int()));
  }
  return numbers;
}

}  // namespace detail

namespace {

// An operator of recorded loops alone: a strided region of the first operand is replaced.
Tensor overwritten(const groove::Node& node, const Tensors& inputs, ArrayRef<Scalar> starts) {
  const AttrReader attr(*node.op, node.attrs);
  const NoGradGuard no_history;
  const Tensor whole = inputs[0].clone().contiguous();
  std::int64_t offset = attr.integer(2);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t start = starts[i].to_int();
    offset += attr.integers(3)[i] * (start < 0 ? start + attr.integers(4)[i] : start);
  }
  materialize(*whole.impl());
  make_view(whole, Geometry{Shape(attr.integers(0)), Shape(attr.integers(1)), offset})
      .copy_(inputs[1]);
  return whole;
}

}  // namespace

Tensors Graph::run(const Tensors& arguments, Site site) const {
  const GraphState& state = *state_;
  const Tensors inputs = detail::all_inputs(state, arguments);
  const std::string problem = this->problem();
  GROOVE_CHECK(problem.empty(), "graph: {}", problem);
  const std::vector<Scalar> numbers = detail::numbers_for_run(state);
  const SiteScope scope(site);
  kernels::NodeValues values(state.graph, inputs);
  for (const std::int32_t index : state.order) {
    const groove::Node& node = state.graph.nodes[static_cast<std::size_t>(index)];
    Tensors operands = values.operands(node);
    const std::vector<Scalar> own = kernels::numbers_of(node, numbers);
    // Its types are those of contiguous memory.
    if (node.op->kind == OpKind::kView) operands[0] = operands[0].contiguous();
    Tensors results(node.outputs.size());
    if (node.op->lowering &&
        std::holds_alternative<kernels::OverwriteLowering>(node.op->lowering->how))
      results[0] = overwritten(node, operands, own);
    else
      dispatch(Call{node.op, operands, &node.attrs, own, site}, results.data());
    values.finish(node, std::move(results));
  }
  Tensors outputs;
  for (const GraphOutput& output : state.graph.outputs)
    outputs.push_back(values[output.value]);
  const NoGradGuard no_history;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (const std::int32_t written = state.graph.outputs[k].writes; written >= 0)
      inputs[static_cast<std::size_t>(written)].detach().copy_(outputs[k]);
  return outputs;
}

}  // namespace groove::jit
