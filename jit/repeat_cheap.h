// Cheap values that are computed by each who reads them instead of being stored.
#pragma once

#include <optional>

#include "jit/fusion.h"

namespace groove::jit {

/// Elementwise values of which one group stores what others could as well compute from a value that
/// is in memory anyway: x - mean of a batch norm, which its statistics, its result and its gradient
/// read. Each of those groups gets nodes of its own. None when there are no such values.
/// Needs: insert_copies, and the fusion of this graph.  Keeps: inputs, outputs, places, stages,
/// bits.
std::optional<Graph> repeat_cheap(const Graph& graph, const Fusion& fusion);
/// Bytes that the groups load and store, each value once a group.
std::int64_t moved_bytes(const Graph& graph, const Fusion& fusion);

}  // namespace groove::jit
