// Whether what a history says of types goes together: at sizes that were set in it afterwards it
// must be what a recording at these sizes would have said.
#pragma once

#include "tracer/calls/segment.h"

namespace groove::tracer {

/// Do the history's operators give the types that it and the segment's slots have? One that calls
/// user code is never known to: the code has types of its own.
bool has_types_of(const HistoryPlan& history, const Segment& segment);

}  // namespace groove::tracer
