// The tracer's view of UntracedScope: how many are open on this thread.
#pragma once

#include "groove/detail/untraced.h"

namespace groove::detail {

inline constinit thread_local int untraced_depth = 0;
inline bool is_untraced() { return untraced_depth > 0; }

}  // namespace groove::detail
