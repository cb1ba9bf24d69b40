// One call of an operator as a graph of its own.
#pragma once

#include "jit/graph/state.h"

#include "kernels/lowering.h"
#include "src/core/op.h"

namespace groove::testing {

inline Graph graph_of(const Op& op, const Sample& sample) {
  Graph graph;
  std::vector<ValueId> operands;
  for (const Type& type : sample.inputs)
    operands.push_back(type.dtype == ScalarType::Undefined
                           ? kNoValue
                           : graph.add_input(type, contiguous_strides(type.sizes)));
  std::vector<NumberRef> numbers;
  for (const Scalar& number : sample.numbers) numbers.push_back({-1, number});
  const std::int32_t node =
      graph.add_node(op, std::move(operands), sample.attrs, std::move(numbers), {"a.cpp", 3});
  for (const ValueId id : graph.nodes[static_cast<std::size_t>(node)].outputs)
    graph.outputs.push_back({id, -1, 0});
  return graph;
}

// Eager mode writes through views instead.
inline bool is_compiled_only(const Op& op) {
  return op.lowering && std::holds_alternative<kernels::OverwriteLowering>(op.lowering->how);
}

inline jit::Graph facade_of(Graph graph) {
  return jit::Graph(std::make_unique<jit::detail::GraphState>(std::move(graph)));
}

}  // namespace groove::testing
