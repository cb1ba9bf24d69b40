// How grouped nodes read their operands: chains from an operand to the loop, and the memory at the
// far end of them.
#include "jit/fusion.h"
#include "kernels/lowering.h"
#include "kernels/ops/structural.h"

namespace groove::jit {

using kernels::ElementwiseLowering;
using kernels::GatherLowering;
using kernels::ReductionLowering;

bool is_splat(const Node& node) {
  if (node.op->kind != OpKind::kElementwise || !node.inputs.empty() || node.op->is_random ||
      !node.op->lowering || node.outputs.size() != 1) {
    return false;
  }
  const auto* how = std::get_if<ElementwiseLowering>(&node.op->lowering->how);
  return how && !how->uses_flat_index && !how->uses_last_index;
}

Geometry memory_geometry(const Graph& graph, ValueId value) {
  const Value& v = graph.values[static_cast<std::size_t>(value)];
  if (v.node < 0) {
    return {v.type.sizes, graph.inputs[static_cast<std::size_t>(v.output)].strides, 0};
  }
  const Node& node = graph.nodes[static_cast<std::size_t>(v.node)];
  Shape strides = contiguous_strides(v.type.sizes);
  if (node.op == &materialize_op()) {
    const IntArrayRef order = AttrReader(*node.op, node.attrs).integers(0);
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[i]);
      strides[axis] = stride;
      stride *= v.type.sizes[axis];
    }
  }
  return {v.type.sizes, strides, 0};
}

const Chain* operand_chain(const Graph& graph, Chains& chains, std::int32_t index,
                           std::size_t operand, const Chain* from_output) {
  const Node& node = graph.nodes[static_cast<std::size_t>(index)];
  const ValueId input = node.inputs[operand];
  const auto* gather = std::get_if<GatherLowering>(&node.op->lowering->how);
  if (gather) {
    if (operand == 0) return chains.pick(index, from_output);
    return gather->index_is_full ? from_output : chains.align(index, from_output);
  }
  if (std::holds_alternative<ReductionLowering>(node.op->lowering->how)) return from_output;
  return chains.broadcast(input, node.outputs[0], from_output);
}

ValueId resolve(const Graph& graph, Chains& chains, ValueId value, const Chain*& chain) {
  while (is_view(graph, value)) {
    const std::int32_t node = graph.values[static_cast<std::size_t>(value)].node;
    chain = chains.view(node, chain);
    value = graph.nodes[static_cast<std::size_t>(node)].inputs[0];
  }
  return value;
}

bool is_collapsible(const LoopShape& loop, const Walk& walk, const std::vector<char>& axes) {
  std::int64_t expected = -1;
  for (std::size_t i = loop.sizes.size(); i-- > 0;) {
    if (!axes[i]) continue;
    if (expected >= 0 && walk.strides[i] != expected) return false;
    expected = walk.strides[i] * loop.sizes[i];
  }
  return true;
}

}  // namespace groove::jit
