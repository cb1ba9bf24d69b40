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

}  // namespace

bool unroll_scans(Graph& graph) {
  const auto is_short = [](const Graph&, const Node& node) {
    const std::optional<ScanCost> cost = cost_to_unroll(*node.op, node.attrs);
    return cost && cost->operators <= kMostOperators && cost->nanoseconds_of_step <= kLongStep;
  };
  return expand_nodes(graph, is_short, unroll_scan);
}

}  // namespace groove::jit
