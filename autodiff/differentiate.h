// Derivatives of stored graphs: the rules of the eager tape run over a graph instead of data, so
// that a gradient is the same operators in the same order.
#pragma once

#include "kernels/derivative.h"

namespace groove::autodiff {

struct Differentiated {
  Graph graph;                     // the graph itself, then seeds, cotangents and the derivative
  std::size_t nodes_before = 0;    // nodes of the graph itself
  std::vector<ValueId> gradients;  // of the wanted inputs
  std::vector<ValueId> given;      // seeds and cotangents
};

/// The graph with every operator that the tape takes apart taken apart.
Graph expand_for_tape(const Graph& graph, ArrayRef<Scalar> numbers);
/// Of a graph that is expanded; its values keep their numbers. `numbers`: what the entry numbers
/// are now; those that a rule looks at become part of the result (see NumberWatch).
Differentiated differentiate(const Graph& graph, const kernels::DerivativeRequest& request,
                             ArrayRef<Scalar> numbers);

}  // namespace groove::autodiff
