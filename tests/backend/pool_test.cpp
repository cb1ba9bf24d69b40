// The thread pool: all parts run exactly once, levels stay in order, nothing hangs or crawls when
// there are more threads than cores, and a forked child works.
#include "kernels/pool.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace groove::kernels {
namespace {

class Pool : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_kernel_threads(GetParam()); }
  void TearDown() override { set_kernel_threads(0); }
};

TEST_P(Pool, RunsEachPartOnce) {
  for (const int parts : {1, 2, 3, 8, 100}) {
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
      parallel(parts, [&](int part, int of) {
        EXPECT_EQ(of, parts);
        ++runs[static_cast<std::size_t>(part)];
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST_P(Pool, NestedRegionsRunAlone) {
  std::atomic<int> runs{0};
  parallel(4, [&](int, int) { parallel(5, [&](int, int) { ++runs; }); });
  EXPECT_EQ(runs, 20);
}

TEST_P(Pool, BusyPoolDoesNotBlockOtherThreads) {
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) parallel(3, [&](int, int) { ++runs; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 4 * 500 * 3);
}

// Spinning waits would take minutes here where threads outnumber cores; ctest's limit is the judge.
TEST_P(Pool, KeepsGoingWhenOversubscribed) {
  std::atomic<int> runs{0};
  for (int round = 0; round < 1000; ++round) parallel(GetParam(), [&](int, int) { ++runs; });
  EXPECT_EQ(runs, 1000 * GetParam());
  runs = 0;
  for (int round = 0; round < 10; ++round)
    parallel_levels(
        300, GetParam(),
        [](void* given, int, int part, int) {
          if (part == 0) ++*static_cast<std::atomic<int>*>(given);
        },
        &runs);
  EXPECT_EQ(runs, 3000);
}

// Every part of every level runs once, and no level begins before the one before it has ended.
TEST_P(Pool, LevelsRunInOrder) {
  constexpr int kLevels = 150;
  struct State {
    std::atomic<int> ended[kLevels] = {};
    std::atomic<int> early{0}, parts{0};
  };
  for (int round = 0; round < 50; ++round) {
    State state;
    parallel_levels(
        kLevels, GetParam(),
        [](void* given, int level, int part, int parts) {
          State& s = *static_cast<State*>(given);
          s.parts = parts;
          if (level > 0 && s.ended[level - 1] != parts) ++s.early;
          // The others come as far as they may, on a busy machine, too.
          if (level == kLevels / 2 && part == 0) usleep(3000);
          ++s.ended[level];
        },
        &state);
    EXPECT_EQ(state.early, 0);
    for (const auto& ended : state.ended) EXPECT_EQ(ended, state.parts);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Pool, ::testing::Values(1, 2, 3, 7));

TEST(PoolProcess, SurvivesFork) {
  set_kernel_threads(3);
  std::atomic<int> runs{0};
  parallel(3, [&](int, int) { ++runs; });
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> own{0};
    for (int round = 0; round < 50; ++round) parallel(3, [&](int, int) { ++own; });
    _exit(own == 150 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  set_kernel_threads(0);
}

TEST(PoolProcess, WorkersHaveTheFloatEnvironment) {
  set_kernel_threads(2);
  for (int round = 0; round < 100; ++round) {
    parallel(2, [](int part, int) {
      if (part == 1) {
        EXPECT_EQ(_mm_getcsr() & 0xffc0u, 0x1f80u);
      }
    });
  }
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  {
    const FloatEnvironment scope;
    EXPECT_EQ(_mm_getcsr(), 0x1f80u);
  }
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(before);
  set_kernel_threads(0);
}

TEST(PoolProcess, BackgroundWorkTakesACore) {
  set_kernel_threads(4);
  set_background_busy(true);
  EXPECT_EQ(num_threads(), 3);
  set_background_busy(false);
  EXPECT_EQ(num_threads(), 4);
  set_kernel_threads(0);
}

// Where a thread may run is the program's own affair before and after.
TEST(PoolProcess, LeavingACoreKeepsWhereAThreadMayRun) {
  std::thread([] {
    cpu_set_t all, one, now;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    for (int core = -1; core <= CPU_SETSIZE; ++core) leave_core(core);
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
    const int own = core_of_thread();
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(own), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    leave_core(own);
    EXPECT_EQ(core_of_thread(), own);
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  }).join();
}

}  // namespace
}  // namespace groove::kernels
