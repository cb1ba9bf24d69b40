// Products that are added to each other become one launch.
#pragma once

#include "jit/launch_plan.h"

namespace groove::jit {

/// Joins products each of which adds its result to the one before, and nothing else reads that:
/// the sums stay in registers and a near cache, and what a time loop adds up step by step (the
/// gradient of a weight) is added up once. Needs launches in an order that respects dependencies,
/// and keeps one; `is_again` as for join_siblings.
void join_sums(const Graph& graph, Lowered& lowered, const std::vector<char>* is_again);

}  // namespace groove::jit
