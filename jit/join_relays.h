// Launches that hand rows to each other become one.
#pragma once

#include "jit/launch_plan.h"

namespace groove::jit {

/// Joins products, a kernel of rows that reads their results row by row, and products whose left
/// matrix that kernel makes, where the rows of a block fit a near cache. Values that nothing else
/// reads get no memory. Needs launches in an order that respects dependencies, and keeps one.
void join_relays(const Graph& graph, Lowered& lowered);

}  // namespace groove::jit
