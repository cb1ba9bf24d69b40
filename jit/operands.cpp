// How grouped nodes read their operands: chains from an operand to the loop, and the memory at the
// far end of them.
#include <optional>

#include "jit/costs.h"
#include "jit/fusion.h"
#include "kernels/block_product.h"
#include "kernels/build.h"
#include "kernels/fours.h"
#include "kernels/lowering.h"
#include "kernels/ops/structural.h"

namespace groove::jit {

using kernels::ElementwiseLowering;
using kernels::GatherLowering;
using kernels::ReductionLowering;

bool is_product(const Graph& graph, const Node& n) {
  if (lowering_as<kernels::ContractionLowering>(n)) return true;
  if (!kernels::block_product(*n.op) || !n.numbers.empty()) return false;
  // Code of its own sums in the dtype of the result.
  const ScalarType dtype = graph.type(n.outputs[0]).dtype;
  return dtype == kFloat || dtype == kDouble;
}

bool is_splat(const Node& node) {
  if (node.op->kind != OpKind::kElementwise || !node.inputs.empty() || node.op->is_random ||
      !node.op->lowering || node.outputs.size() != 1) {
    return false;
  }
  const auto* how = std::get_if<ElementwiseLowering>(&node.op->lowering->how);
  return how && !how->uses_flat_index && !how->uses_last_index;
}

namespace {

// Of what `emit` gives for an elementwise node whose operands and numbers are there.
template <typename Emit>
double instructions_of(const Graph& graph, const Node& n, const Emit& emit) {
  const auto& how = *lowering_as<ElementwiseLowering>(n);
  const std::vector<Type> types = operand_types(graph, n);
  const std::vector<Scalar> numbers = recorded_numbers(graph, n);
  const Signature signature{*n.op, types, n.attrs, numbers};
  const TypeResult result = derive_types(graph, n);
  kernels::Builder builder;
  kernels::Exprs inputs, parameters;
  for (const Type& type : types) {
    inputs.push_back(type.dtype == ScalarType::Undefined
                         ? kernels::Expr()
                         : builder.load(type.dtype, kernels::StrideClass::kContiguous));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    parameters.push_back(builder.param(kernels::number_dtype(signature, how, result.compute, i)));
  }
  const auto leaves = static_cast<std::int32_t>(inputs.size() + parameters.size());
  const kernels::Exprs body = emit(builder, signature, result, inputs, parameters);
  return static_cast<double>(body.back().id() - leaves);
}

}  // namespace

double body_instructions(const Graph& graph, const Node& n) {
  const auto* how = lowering_as<ElementwiseLowering>(n);
  if (!how || n.outputs.size() != 1 || how->uses_flat_index || how->uses_last_index) return 0;
  return instructions_of(graph, n, [](auto& builder, auto&... of) {
    return kernels::emit_elementwise(builder, of...);
  });
}

double saved_by_fours(const Graph& graph, const Node& n) {
  if (!kernels::fours_of(*n.op)) return 0;
  const double alone = instructions_of(
      graph, n, [](auto& builder, auto& signature, auto& result, auto& inputs, auto& numbers) {
        return kernels::emit_elementwise(builder, signature, result, inputs, numbers,
                                         [&] { return builder.index(0); });
      });
  const double four = instructions_of(
      graph, n, [](auto& builder, auto& signature, auto& result, auto&, auto& numbers) {
        return kernels::emit_fours(builder, signature, result, numbers, builder.index(0));
      });
  return alone - four / 4;
}

// Dearer than storing the result and loading it again.
bool is_dear(double instructions) {
  return instructions * costs::kInstruction >= costs::kNearStore + costs::kNearLoad;
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
  std::optional<std::int64_t> expected;  // none outside the innermost axis; strides may be negative
  for (std::size_t i = loop.sizes.size(); i-- > 0;) {
    if (!axes[i]) continue;
    if (expected && walk.strides[i] != *expected) return false;
    expected = walk.strides[i] * loop.sizes[i];
  }
  return true;
}

bool collapses(const Group& into, const Walk& walk) {
  std::vector<char> axes(into.loop.sizes.size(), 0);
  if (into.kind == GroupKind::kRow || into.kind == GroupKind::kColumn) {
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = into.loop.is_reduced[i];
    return is_collapsible(into.loop, walk, axes);
  }
  for (std::uint8_t matrix = 0; matrix < 3 && !into.matrix_axis.empty(); ++matrix) {
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = into.matrix_axis[i] == matrix;
    if (!is_collapsible(into.loop, walk, axes)) return false;
  }
  return true;
}

}  // namespace groove::jit
