// Launches that become one: whether nothing stands between them, and putting one in their place.
#pragma once

#include <vector>

#include "jit/launch_plan.h"

namespace groove::jit {

/// Per launch the longest path of launches before it: those of one level do not depend on each
/// other.
std::vector<std::int32_t> launch_levels(const Lowered& lowered);

/// Is the launch of nodes that run a second time? `is_again`: per node, or null.
bool runs_again(const LaunchPlan& plan, const std::vector<char>* is_again);

/// No launch outside must run after one of the members (ascending) and before another. `later`:
/// those between the first and the last of them that must run after.
bool may_gather(const Lowered& lowered, const std::vector<std::int32_t>& members,
                std::vector<std::int32_t>& later);

/// Puts the plan in place of the members, the later ones behind it. Gives the first place that
/// has changed.
std::int32_t gather(Lowered& lowered, const std::vector<std::int32_t>& members,
                    const std::vector<std::int32_t>& later, LaunchPlan plan);

}  // namespace groove::jit
