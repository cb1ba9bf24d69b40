// Cheap values that are computed by each who reads them instead of being stored.
#pragma once

#include "jit/fusion.h"

namespace groove::jit {

/// Elementwise values of which one group stores what others could as well compute from a value that
/// is in memory anyway: x - mean of a batch norm, which its statistics, its result and its gradient
/// read. Each of those groups gets nodes of its own. False when nothing changed.
/// Needs: insert_copies, and the fusion of this graph.  Keeps: inputs, outputs, places, stages,
/// bits.
bool repeat_cheap(Graph& graph, const Fusion& fusion);
/// Bytes that the groups load and store, each value once a group.
std::int64_t moved_bytes(const Graph& graph, const Fusion& fusion);

}  // namespace groove::jit
