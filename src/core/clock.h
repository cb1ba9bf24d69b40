#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace groove {

/// Of a clock that never goes back.
inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Time that this thread has had a core for, in nanoseconds.
inline std::int64_t thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace groove
