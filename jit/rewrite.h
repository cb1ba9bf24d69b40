// Copying a graph node by node with changes: how passes insert and replace nodes.
#pragma once

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

/// Moves the nodes that were appended last, one for each of `before` (ascending), to before those.
void move_before(Graph& graph, const std::vector<std::int32_t>& before);

/// Removes the nodes that do not stay and their results, which nothing may read any more.
void remove_nodes(Graph& graph, const std::vector<char>& stays);

}  // namespace groove::jit
