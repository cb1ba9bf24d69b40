// Replaces composites by the ordinary ops that their tensor code dispatches.
// Needs: nothing.  Keeps: inputs, outputs, order, places, stages; run-time numbers stay such.
#include "jit/expand_nodes.h"
#include "jit/passes/passes.h"
#include "kernels/ops/widen.h"

namespace groove::jit {

bool expand_composites(Graph& graph) {
  const auto is_composite = [](const Graph&, const Node& node) {
    return node.op->kind == OpKind::kComposite;
  };
  return expand_nodes(graph, is_composite, kernels::compose);
}

}  // namespace groove::jit
