// How long the bodies of a graph's nodes are. Counting one means to write it, so it is counted once
// for all calls that are alike but for their sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/form.h"
#include "src/core/graph.h"

namespace groove::jit {

class Bodies {
 public:
  /// Keeps the graph, whose nodes must stay as they are.
  explicit Bodies(const Graph& graph)
      : graph_(graph), form_(graph), instructions_(graph.nodes.size(), -1) {}
  /// body_instructions() of fusion.h.
  double instructions(std::int32_t node);
  /// saved_by_fours() of fusion.h.
  double saved_by_fours(std::int32_t node);
  /// is_dear() of fusion.h.
  bool is_dear(std::int32_t node);

 private:
  void read_form(std::int32_t node);

  const Graph& graph_;
  FormWriter form_;
  std::vector<double> instructions_;  // per node; -1: not asked for yet
};

}  // namespace groove::jit
