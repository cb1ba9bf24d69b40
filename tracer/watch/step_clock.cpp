#include "tracer/watch/step_clock.h"

#include <x86intrin.h>

#include <algorithm>
#include <utility>

#include "src/core/clock.h"

namespace groove::tracer {

std::int64_t StepClock::time_of_step(std::int64_t now) {
  const kernels::LongRegions regions = kernels::take_long_regions();
  const std::uint64_t counter = __rdtsc(), ticks = counter - std::exchange(ticks_, counter);
  const std::int64_t passed = now - std::exchange(time_, now);
  const std::int64_t had = thread_time();
  Step step;
  step.own = had - std::exchange(own_, had);
  const int workers = regions.threads - 1, before = std::exchange(workers_, workers);
  if (workers == 0) return step.own;
  const kernels::WorkersTime of_workers = kernels::workers_time(workers);
  const kernels::WorkersTime earlier = std::exchange(of_workers_, of_workers);
  if (workers != before || ticks == 0) return step.own;
  const double of_tick = static_cast<double>(passed) / static_cast<double>(ticks);
  step.of_workers = static_cast<double>(of_workers.nanoseconds - earlier.nanoseconds) -
                    of_tick * static_cast<double>(of_workers.waiting - earlier.waiting);
  step.outside = ticks - std::min(ticks, regions.all);
  step.in_own_parts = regions.own;
  step.threads = regions.threads;
  return shared_evenly(step);
}

std::int64_t StepClock::shared_evenly(const Step& step) {
  const auto outside = static_cast<double>(step.outside);
  const double busy = outside + static_cast<double>(step.in_own_parts);
  const auto own = static_cast<double>(step.own);
  const double alone = busy > 0 ? own * outside / busy : own;
  const double shared = own - alone + std::max(0.0, step.of_workers);
  return static_cast<std::int64_t>(alone + shared / step.threads);
}

}  // namespace groove::tracer
