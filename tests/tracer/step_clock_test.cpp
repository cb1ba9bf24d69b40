// What a step took, from what threads had a core for: whoever does a long region's parts, it is the
// same.
#include "tracer/watch/step_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kernels/pool.h"

namespace groove::tracer {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(StepClock, WithoutLongRegionsItIsTheThreadsTime) {
  EXPECT_EQ(StepClock::shared_evenly({.own = 7 * kMillisecond, .outside = 100}), 7 * kMillisecond);
}

TEST(StepClock, TellsTheSameWhoeverDoesTheParts) {
  // 2 ms alone and 12 ms of parts for two threads.
  constexpr std::int64_t kTold = 2 * kMillisecond + 6 * kMillisecond;
  for (const int own : {0, 1, 5, 6, 11, 12}) {
    StepClock::Step step;
    step.own = (2 + own) * kMillisecond;
    step.of_workers = static_cast<double>((12 - own) * kMillisecond);
    step.outside = 2'000;
    step.in_own_parts = static_cast<std::uint64_t>(own) * 1'000;
    step.threads = 2;
    EXPECT_NEAR(static_cast<double>(StepClock::shared_evenly(step)), static_cast<double>(kTold), 1);
  }
}

// Parts of some milliseconds.
void run_long_region() {
  kernels::parallel(4, [](int, int) {
    volatile int count = 0;
    while (count < 10'000'000) count = count + 1;
  });
}

TEST(StepClock, LongRegionsAreCounted) {
  kernels::set_kernel_threads(2);
  kernels::set_never_serial(true);
  kernels::take_long_regions();
  run_long_region();
  const kernels::LongRegions told = kernels::take_long_regions();
  EXPECT_EQ(told.threads, 2);
  EXPECT_GT(told.own, 0U);
  EXPECT_GE(told.all, told.own);
  EXPECT_EQ(kernels::take_long_regions().threads, 1);
  kernels::set_never_serial(false);
  kernels::set_kernel_threads(0);
}

TEST(StepClock, RegionsOfOtherThreadsAreNot) {
  kernels::set_kernel_threads(2);
  kernels::take_long_regions();
  std::thread([] { run_long_region(); }).join();
  EXPECT_EQ(kernels::take_long_regions().threads, 1);
  kernels::set_kernel_threads(0);
}

// A region that a worker took part in, however late the system let it.
void meet_a_worker() {
  std::atomic<int> there{0};
  kernels::parallel(2, [&](int, int) {
    ++there;
    while (there < 2) std::this_thread::yield();
  });
}

TEST(StepClock, WorkersThatWaitForWorkAreNotBusy) {
  kernels::set_kernel_threads(2);
  kernels::set_never_serial(true);  // however little a second thread pays here
  meet_a_worker();
  const kernels::WorkersTime before = kernels::workers_time(1);
  kernels::WorkersTime after = before;
  for (int i = 0; i < 10'000 && after.waiting == before.waiting; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    meet_a_worker();
    after = kernels::workers_time(1);
  }
  EXPECT_GE(after.nanoseconds, before.nanoseconds);
  EXPECT_GT(after.waiting, before.waiting);
  kernels::set_never_serial(false);
  kernels::set_kernel_threads(0);
}

}  // namespace
}  // namespace groove::tracer
