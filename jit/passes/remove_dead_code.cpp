// Removes nodes from which no output can be reached.
// Needs: nothing.  Keeps: inputs (also unread ones: they are slots of the entry), outputs, order.
#include "jit/passes/passes.h"
#include "jit/rewrite.h"

namespace groove::jit {

bool remove_dead_code(Graph& graph) {
  std::vector<char> is_live(graph.values.size());
  for (const GraphOutput& output : graph.outputs)
    is_live[static_cast<std::size_t>(output.value)] = 1;
  std::vector<char> stays(graph.nodes.size());
  std::size_t count = 0;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    for (const ValueId id : graph.nodes[i].outputs)
      stays[i] |= is_live[static_cast<std::size_t>(id)];
    if (!stays[i]) continue;
    ++count;
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id != kNoValue) is_live[static_cast<std::size_t>(id)] = 1;
    }
  }
  if (count == graph.nodes.size()) return false;
  remove_nodes(graph, stays);
  return true;
}

}  // namespace groove::jit
