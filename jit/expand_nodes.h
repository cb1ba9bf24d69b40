// Tensor code in place of nodes: what the passes share that expand an op into others.
#pragma once

#include <functional>

#include "src/core/graph.h"

namespace groove::jit {

/// Replaces each node that `is_meant` by the ops that `code` dispatches for it, which give values
/// of the same types. False when there is none. Keeps inputs, outputs, order, places, stages and
/// names; run-time numbers stay such.
bool expand_nodes(Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_meant,
                  const std::function<Tensors(const Signature&, ArrayRef<Tensor>)>& code);

}  // namespace groove::jit
