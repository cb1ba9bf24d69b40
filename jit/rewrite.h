// Copying a graph node by node with changes: how passes insert and replace nodes.
#pragma once

#include <numeric>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

// Builds a new graph out of an old one. Values of the old graph are renamed as they are copied.
class Rewriter {
 public:
  explicit Rewriter(Graph&& from);
  const Graph& from() const { return from_; }
  Graph& graph() { return to_; }
  /// The new name of an old value; kNoValue stays.
  ValueId renamed(ValueId old) const {
    return old == kNoValue ? kNoValue : names_[static_cast<std::size_t>(old)];
  }
  void rename(ValueId old, ValueId fresh) { names_[static_cast<std::size_t>(old)] = fresh; }
  /// Copies node `index` over renamed operands; types are kept, not derived again. Of the old node
  /// only op, place and stage are left.
  std::int32_t copy(std::int32_t index);
  /// Renames the outputs and gives the graph.
  Graph finish();

 private:
  Graph from_, to_;
  std::vector<ValueId> names_;
};

// What values are called from now on, in a pass that changes a graph where it is.
class Names {
 public:
  explicit Names(const Graph& graph) : names_(graph.values.size()) {
    std::iota(names_.begin(), names_.end(), 0);
  }
  ValueId of(ValueId value) const {
    return value == kNoValue ? kNoValue : names_[static_cast<std::size_t>(value)];
  }
  void rename(ValueId value, ValueId same) { names_[static_cast<std::size_t>(value)] = same; }
  void rename_inputs(Node& node) const {
    for (ValueId& id : node.inputs) id = of(id);
  }
  void rename_outputs(Graph& graph) const {
    for (GraphOutput& output : graph.outputs) output.value = of(output.value);
  }

 private:
  std::vector<ValueId> names_;
};

/// The node that computes the value; null: the graph is given it.
inline const Node* producer_of(const Graph& graph, ValueId value) {
  const std::int32_t index = graph.values[static_cast<std::size_t>(value)].node;
  return index < 0 ? nullptr : &graph.nodes[static_cast<std::size_t>(index)];
}

/// Moves the nodes that were appended last, one for each of `before` (ascending), to before those.
void move_before(Graph& graph, const std::vector<std::int32_t>& before);

/// Removes the nodes that do not stay and their results, which nothing may read any more.
void remove_nodes(Graph& graph, const std::vector<char>& stays);

}  // namespace groove::jit
