// How long the bodies of a graph's nodes are. Counting one means to write it, so nodes that are the
// same call over other sizes, as the steps of a loop are, share the count.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

class Bodies {
 public:
  /// Keeps the graph, whose nodes must stay as they are.
  explicit Bodies(const Graph& graph) : graph_(graph), example_of_(graph.nodes.size(), kNone) {}
  /// body_instructions() of fusion.h.
  double instructions(std::int32_t node);
  /// is_dear() of fusion.h.
  bool is_dear(std::int32_t node);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Example {
    std::int32_t node;
    double instructions = -1;  // once asked for
    signed char is_dear = -1;
  };
  Example& example(std::int32_t node);
  bool is_alike(const Node& a, const Node& b) const;

  const Graph& graph_;
  std::vector<std::size_t> example_of_;  // per node, once asked for
  std::vector<Example> examples_;
};

}  // namespace groove::jit
