// Where a view lies that a recording has made, for whatever its base is now.
#pragma once

#include <vector>

#include "kernels/moving_view.h"
#include "src/core/geometry.h"
#include "src/core/graph.h"

namespace groove::tracer {

/// The node's view of `base`, whose type is `type`, with its moving starts at 0; adds these.
Geometry recorded_view(const Node& made, const Geometry& base, const Type& type,
                       std::vector<kernels::MovingStart>& starts);

}  // namespace groove::tracer
