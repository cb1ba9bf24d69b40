// The values of a graph whose nodes are run one after the other, as tensors: every one goes after
// its last reader.
#pragma once

#include "src/core/dispatch.h"
#include "src/core/graph.h"

namespace groove::kernels {

class NodeValues {
 public:
  /// inputs: one for every input of `graph`, which must outlive this.
  NodeValues(const Graph& graph, ArrayRef<Tensor> inputs);

  /// What a node reads; an operand that it goes without is undefined.
  Tensors operands(const Node& node) const;
  /// Takes the results of a node that ran. Those that nobody reads are dropped, and so is what only
  /// this node was still to read.
  void finish(const Node& node, Tensors results);

  const Tensor& operator[](ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<std::int32_t> uses_;  // still to come, an output of the graph counts as one
  Tensors values_;
};

/// The numbers of a node, constants and entries of the graph's.
std::vector<Scalar> numbers_of(const Node& node, ArrayRef<Scalar> entries);

}  // namespace groove::kernels
