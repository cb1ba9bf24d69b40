// What is behind jit::Graph: the graph as passes know it, in an order that can be edited. Headers
// of Groove's own stand before the public one, whose class Graph hides the struct of that name in
// this namespace.
#pragma once

#include "src/core/atomic_value.h"
#include "src/core/check.h"
#include "src/core/graph_values.h"

#include "groove/jit/graph.h"

namespace groove::jit::detail {

// Nodes and values keep their numbers while they are edited; `order` says where nodes stand.
struct GraphState {
  groove::Graph graph;
  std::vector<std::int32_t> order;
  std::vector<Tensor> weights;  // per input; undefined for an argument
  // Values of entry numbers. Those that something random draws with are a key and the number of a
  // draw, both to be added to what the generator gives.
  std::vector<std::optional<Scalar>> numbers;
  std::uint64_t draws = 0;           // that a run takes
  AtomicValue<bool> is_good{false};  // as problem_of() found it; what changes the graph says false

  /// Of a graph in order.
  explicit GraphState(groove::Graph from);
  groove::Node& node(std::int32_t index) { return graph.nodes[static_cast<std::size_t>(index)]; }
  const groove::Value& value(ValueId id) const {
    return graph.values[static_cast<std::size_t>(id)];
  }
};

/// The graph in order, without what was erased. Throws groove::Error where the order is none.
groove::Graph in_order(const GraphState& state);
GraphWithValues with_values(const GraphState& state);
/// Empty when the graph is well formed.
std::string problem_of(GraphState& state);
/// The same for what only files and users' passes can do wrong: numbers that are missing, memory
/// that no machine has.
std::string problem_of(const groove::Graph& graph);

/// Throws groove::Error unless there is one tensor of the right type for each argument. One tensor
/// for each input.
Tensors all_inputs(const GraphState& state, const Tensors& arguments);
/// Values of the entry numbers for one run, with draws taken.
std::vector<Scalar> numbers_for_run(const GraphState& state);

Attrs attrs_of(const Op& op, const std::vector<Attribute>& attributes);
std::vector<Attribute> attributes_of(const Op& op, const Attrs& attrs);
const Op& op_of(const std::string& name);

}  // namespace groove::jit::detail
