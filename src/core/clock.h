#pragma once

#include <chrono>
#include <cstdint>

namespace groove {

/// Of a clock that never goes back.
inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace groove
