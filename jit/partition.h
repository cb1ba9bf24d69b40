// When do two launches need no barrier between them? When whatever memory both touch and one writes
// is touched by each thread at the same elements: the same loop, cut in the same way, walked alike.
#pragma once

#include <vector>

#include "jit/launch_plan.h"

namespace groove::jit {

/// May a thread begin its part of `later` while other threads are still in their parts of
/// `earlier`? Both are kernels that all threads share; the buffers have their places.
bool keeps_partition(const std::vector<Buffer>& buffers, const LaunchPlan& earlier,
                     const LaunchPlan& later);

}  // namespace groove::jit
