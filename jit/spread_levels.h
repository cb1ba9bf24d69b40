// Launches of one level that need not be in one, where most memory is alive.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/launch_plan.h"

namespace groove::jit {

/// At the level where most bytes of the arena are alive, what frees memory runs first and what
/// takes some runs in a level of its own after it; again, until no level is worth a barrier more.
/// Nothing happens below `least_bytes`. `level_of` are levels within each launch's stage.
/// Needs: levels that respect all dependencies.  Keeps: that.
void spread_levels(const Lowered& lowered, std::int64_t least_bytes,
                   std::vector<std::int32_t>& level_of);

}  // namespace groove::jit
