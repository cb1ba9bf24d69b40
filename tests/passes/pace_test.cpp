// A stage that may run on one thread or on all settles for the faster way, and for the other one
// when that has become faster.
#include "jit/pace.h"

#include <gtest/gtest.h>

#include <chrono>

namespace groove::jit {
namespace {

void spend(int microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Runs that went alone, of so many.
int alone_of(Pace& pace, int runs, int microseconds_alone, int microseconds_shared) {
  int alone = 0;
  for (int run = 0; run < runs; ++run) {
    const Pace::Turn turn(pace);
    alone += turn.is_alone();
    spend(turn.is_alone() ? microseconds_alone : microseconds_shared);
  }
  return alone;
}

TEST(Pace, SettlesForTheFasterWay) {
  Pace pace;
  alone_of(pace, 100, 5, 25);
  EXPECT_GT(alone_of(pace, 1000, 5, 25), 900);
  Pace other;
  alone_of(other, 100, 25, 5);
  EXPECT_LT(alone_of(other, 1000, 25, 5), 100);
}

TEST(Pace, GoesOverWhenTheOtherWayHasBecomeFaster) {
  Pace pace;
  alone_of(pace, 1000, 5, 25);
  alone_of(pace, 3000, 25, 5);
  EXPECT_LT(alone_of(pace, 1000, 25, 5), 100);
}

TEST(Pace, TriesTheOtherWayEverMoreSeldom) {
  Pace pace;
  alone_of(pace, 10'000, 5, 1);
  EXPECT_LE(alone_of(pace, 4000, 5, 1), 8);
}

}  // namespace
}  // namespace groove::jit
