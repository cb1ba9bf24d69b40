// The lock of a context: its owner's cheap way in keeps visitors out, and they keep out the owner.
#include "tracer/thread/owner_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace groove::tracer {
namespace {

TEST(OwnerLock, IsTakenOnce) {
  int me = 0;
  OwnerLock lock(&me);
  ASSERT_TRUE(lock.try_enter());
  EXPECT_TRUE(lock.is_held());
  EXPECT_FALSE(lock.try_enter());
  EXPECT_FALSE(lock.lock(&me));
  lock.release();
  EXPECT_FALSE(lock.is_held());
  int other = 0;
  ASSERT_TRUE(lock.lock(&other));
  EXPECT_FALSE(lock.lock(&other));
  EXPECT_FALSE(lock.try_enter());
  lock.unlock(&other);
  EXPECT_TRUE(lock.lock(&me));
  lock.unlock(&me);
  EXPECT_FALSE(lock.is_held());
}

// Both halves of `count` are written by whoever is inside, one after the other.
TEST(OwnerLock, LetsOneThreadIn) {
  constexpr int kVisits = 50'000, kVisitors = 2;
  int me = 0;
  OwnerLock lock(&me);
  struct {
    volatile int first = 0, second = 0;
  } count;
  int torn = 0;
  const auto wait = [](int turns) {
    for (volatile int turn = 0; turn < turns;) turn = turn + 1;
  };
  const auto work = [&](bool is_long) {
    if (count.first != count.second) ++torn;
    count.first = count.first + 1;
    if (is_long) wait(5000);
    count.second = count.second + 1;
  };
  std::atomic<int> visiting{kVisitors};
  std::vector<std::thread> visitors;
  for (int v = 0; v < kVisitors; ++v)
    visitors.emplace_back([&] {
      int mine = 0;
      for (int i = 0; i < kVisits; ++i) {
        lock.lock(&mine);
        work(false);
        lock.unlock(&mine);
        wait(200);
      }
      --visiting;
    });
  int times = 0;
  for (; visiting > 0; ++times) {
    if (!lock.try_enter()) lock.lock(&me);
    work(times % 64 == 0);
    lock.release();
  }
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(count.first, times + kVisitors * kVisits);
}

}  // namespace
}  // namespace groove::tracer
