#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>

namespace groove {

/// Of a clock that never goes back.
inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What the system's clock `clock` shows, in nanoseconds.
inline std::int64_t time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Time that this thread has had a core for, in nanoseconds.
inline std::int64_t thread_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

/// … and all threads of the process together.
inline std::int64_t process_time() { return time_of(CLOCK_PROCESS_CPUTIME_ID); }

/// What lies between two looks at the clock of a thread, one right after the other: the system is
/// asked for it.
inline std::int64_t thread_time_cost() {
  static const std::int64_t least = [] {
    constexpr int kTimes = 8;
    std::int64_t cost = 1'000'000, before = thread_time();
    for (int i = 0; i < kTimes; ++i) {
      const std::int64_t now = thread_time();
      cost = std::min(cost, now - std::exchange(before, now));
    }
    return cost;
  }();
  return least;
}

}  // namespace groove
