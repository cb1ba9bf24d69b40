// What a step takes, on a machine that may have other work. The time that the thread has had a core
// for leaves out what that other work takes, but not who does the step's own: where threads share
// long regions and cores are short, the thread does now nearly all of them and now hardly any.
#pragma once

#include <cstdint>

#include "kernels/pool.h"

namespace groove::tracer {

class StepClock {
 public:
  /// Nanoseconds for what this thread has done since the last call, as if long regions were always
  /// shared evenly. `now`: nanoseconds_now().
  std::int64_t time_of_step(std::int64_t now);

  struct Step {
    std::int64_t own = 0;                         // nanoseconds that the thread had a core for
    double of_workers = 0;                        // … and the workers, but to wait for work
    std::uint64_t outside = 0, in_own_parts = 0;  // of long regions, in ticks
    int threads = 1;                              // that these are for
  };
  static std::int64_t shared_evenly(const Step& step);

 private:
  // At the last call: the clocks of the thread and of all, and what the workers said if asked.
  std::int64_t own_ = 0, time_ = 0;
  std::uint64_t ticks_ = 0;
  kernels::WorkersTime of_workers_;
  int workers_ = 0;  // that were asked
};

}  // namespace groove::tracer
