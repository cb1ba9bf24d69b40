// A stage that may run on one thread or on all settles for the faster way, and for the other one
// when that has become faster.
#include "jit/pace.h"

#include <gtest/gtest.h>

namespace groove::jit {
namespace {

// Never 0, as no clock is.
std::uint64_t now = 1;
std::uint64_t test_clock() noexcept { return now; }

// Runs that went alone, of so many.
int alone_of(Pace& pace, int runs, int ticks_alone, int ticks_shared) {
  int alone = 0;
  for (int run = 0; run < runs; ++run) {
    const Pace::Turn turn(pace);
    alone += turn.is_alone();
    now += static_cast<std::uint64_t>(turn.is_alone() ? ticks_alone : ticks_shared);
  }
  return alone;
}

TEST(Pace, SettlesForTheFasterWay) {
  Pace pace(test_clock);
  alone_of(pace, 100, 500, 2500);
  EXPECT_GT(alone_of(pace, 1000, 500, 2500), 900);
  Pace other(test_clock);
  alone_of(other, 100, 2500, 500);
  EXPECT_LT(alone_of(other, 1000, 2500, 500), 100);
}

TEST(Pace, GoesOverWhenTheOtherWayHasBecomeFaster) {
  Pace pace(test_clock);
  alone_of(pace, 1000, 500, 2500);
  alone_of(pace, 3000, 2500, 500);
  EXPECT_LT(alone_of(pace, 1000, 2500, 500), 100);
}

TEST(Pace, TriesTheOtherWayEverMoreSeldom) {
  Pace pace(test_clock);
  alone_of(pace, 10'000, 500, 100);
  EXPECT_LE(alone_of(pace, 4000, 500, 100), 8);
}

}  // namespace
}  // namespace groove::jit
