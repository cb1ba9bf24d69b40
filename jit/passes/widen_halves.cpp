// Puts casts around contractions and host code on 16-bit floats, which compute in f32.
// Needs: no composites.  Keeps: inputs, outputs, order, places, stages; run-time numbers stay such.
#include <algorithm>

#include "jit/expand_nodes.h"
#include "jit/passes/passes.h"
#include "kernels/ops/widen.h"

namespace groove::jit {

bool widen_halves(Graph& graph) {
  if (std::none_of(graph.values.begin(), graph.values.end(),
                   [](const Value& value) { return kernels::is_half(value.type.dtype); })) {
    return false;
  }
  const auto is_narrow = [](const Graph& from, const Node& node) {
    return kernels::needs_widening(*node.op, operand_types(from, node));
  };
  return expand_nodes(graph, is_narrow, kernels::call_widened);
}

}  // namespace groove::jit
