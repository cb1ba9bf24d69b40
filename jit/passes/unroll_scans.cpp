// Replaces scans by their steps, one after the other, where a step takes little more than to begin
// it: then steps share memory, kernels and launches as if the loop had been written by hand.
// Needs: nothing.  Keeps: inputs, outputs, order, places, stages; run-time numbers stay such.
#include "jit/expand_nodes.h"
#include "jit/passes/passes.h"
#include "kernels/ops/control_flow.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kMostOperators = 1024;  // of all steps
constexpr double kLongStep = 100'000;          // nanoseconds, as subgraph_nanoseconds() counts

// How many operators it becomes; 0: it stays.
std::int64_t operators_of(const Node& node) {
  const std::optional<ScanCost> cost = cost_to_unroll(*node.op, node.attrs);
  const bool is_short =
      cost && cost->operators <= kMostOperators && cost->nanoseconds_of_step <= kLongStep;
  return is_short ? cost->operators : 0;
}

}  // namespace

std::int64_t operators_to_unroll(const Graph& graph) {
  std::int64_t operators = 0;
  for (const Node& node : graph.nodes) operators += operators_of(node);
  return operators;
}

bool unroll_scans(Graph& graph) {
  return expand_nodes(
      graph, [](const Graph&, const Node& node) { return operators_of(node) > 0; }, unroll_scan);
}

}  // namespace groove::jit
