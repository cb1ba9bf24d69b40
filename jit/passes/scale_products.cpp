// A number that scales an operand of a matrix product scales the product instead: (x * c) w becomes
// (x w) * c, in the product's epilogue. Fast only: each element then differs by the roundings of
// x * c, at most 1 unit in the last place of the sum of the magnitudes of its terms, where nothing
// overflows or underflows.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves dead nodes behind.
#include "jit/passes/passes.h"
#include "jit/passes/plain_operation.h"
#include "jit/rewrite.h"
#include "kernels/lowering.h"

namespace groove::jit {
namespace {

// The node x * c that the value comes from.
const Node* scaling_of(const Graph& graph, ValueId value) {
  const Node* const found = producer_of(graph, value);
  if (!found) return nullptr;
  const Node& node = *found;
  const Type& type = graph.type(value);
  if (!is_floating(type.dtype) || node.inputs.size() != 1 || node.numbers.size() != 1 ||
      !(graph.type(node.inputs[0]) == type)) {
    return nullptr;
  }
  const Operation& operation = operation_of(*node.op, type.dtype);
  const bool is_product = operation.is_known && !operation.function &&
                          operation.prim == kernels::Prim::kMul && node.attrs.words().empty();
  return is_product ? &node : nullptr;
}

bool is_product_to_scale(const Graph& graph, const Node& node) {
  if (!node.op->lowering || !node.numbers.empty()) return false;
  const auto* const how = std::get_if<kernels::ContractionLowering>(&node.op->lowering->how);
  if (!how || (how->has_bias && node.inputs[2] != kNoValue)) return false;
  return scaling_of(graph, node.inputs[0]) || scaling_of(graph, node.inputs[1]);
}

}  // namespace

bool scale_products(Graph& graph) {
  std::vector<std::int32_t> before;
  const std::size_t count = graph.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_product_to_scale(graph, graph.nodes[i])) continue;
    // The product keeps its place and gets a new result; the old one is the scaled one.
    const std::size_t operand = scaling_of(graph, graph.nodes[i].inputs[0]) ? 0 : 1;
    Node scaling = *scaling_of(graph, graph.nodes[i].inputs[operand]);
    graph.nodes[i].inputs[operand] = scaling.inputs[0];
    const ValueId old = graph.nodes[i].outputs[0];
    const ValueId product = graph.add_value(graph.type(old), static_cast<std::int32_t>(i), 0);
    graph.nodes[i].outputs = {product};
    scaling.inputs = {product};
    scaling.outputs = {old};
    scaling.source = graph.nodes[i].source;
    scaling.stage = graph.nodes[i].stage;
    graph.values[static_cast<std::size_t>(old)].node =
        static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(scaling));
    before.push_back(static_cast<std::int32_t>(i + 1));
  }
  move_before(graph, before);
  return !before.empty();
}

}  // namespace groove::jit
