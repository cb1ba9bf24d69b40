// Gradients of graphs, by the same rules in the same order as backward(): the same bits.
#pragma once

#include "groove/jit/graph.h"

namespace groove::autodiff {

struct GradientOptions {
  /// Inputs whose gradients are wanted, arguments or weights. None: all of a floating dtype.
  std::vector<jit::Value> inputs = {};
  /// The outputs of the graph come first.
  bool keep_outputs = false;
};

/// The graph whose outputs are the gradients of the wanted inputs. It has the inputs of the given
/// one and, behind them, a cotangent for every floating output: what each element counts. A graph
/// with one output of one element, such as a loss, has none; its cotangent is 1. An input without a
/// way to an output gets zeros.
jit::Graph differentiate(const jit::Graph& graph, const GradientOptions& options = {});

}  // namespace groove::autodiff
