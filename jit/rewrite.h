// Copying a graph node by node with changes: how passes insert and replace nodes.
#pragma once

#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

// Builds a new graph out of an old one. Values of the old graph are renamed as they are copied.
class Rewriter {
 public:
  explicit Rewriter(const Graph& from);
  Graph& graph() { return to_; }
  /// The new name of an old value; kNoValue stays.
  ValueId renamed(ValueId old) const {
    return old == kNoValue ? kNoValue : names_[static_cast<std::size_t>(old)];
  }
  void rename(ValueId old, ValueId fresh) { names_[static_cast<std::size_t>(old)] = fresh; }
  /// Copies node `index` over renamed operands; types are kept, not derived again.
  std::int32_t copy(std::int32_t index);
  /// Renames the outputs and gives the graph.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> names_;
};

}  // namespace groove::jit
