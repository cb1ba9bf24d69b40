// When regions are shared out among threads: by times that are made up here.
#include "kernels/sharing.h"

#include <gtest/gtest.h>

namespace groove::kernels {
namespace {

constexpr std::uint64_t kMillisecond = 3'000'000;  // ticks, about

// Regions of two parts, one after the other.
struct Machine {
  Sharing sharing;
  std::uint64_t now = 0;

  void run(std::uint64_t parts, std::uint64_t all) {
    now += all;
    sharing.note(now, {parts, all});
  }
  int regions_until_pause(std::uint64_t parts, std::uint64_t all, int most) {
    for (int i = 0; i < most; ++i) {
      if (sharing.is_paused(now)) return i;
      run(parts, all);
    }
    return most;
  }
  std::uint64_t pause() const {
    std::uint64_t length = 0;
    while (sharing.is_paused(now + length)) length += kMillisecond / 10;
    return length;
  }
};

TEST(Sharing, WhatGainsGoesOn) {
  Machine machine;
  EXPECT_EQ(machine.regions_until_pause(60'000, 33'000, 10'000), 10'000);
}

// A thread's time slice is lost in the middle of its part: it is not tried again for a while, and
// then ever more seldom.
TEST(Sharing, LostSlicesPauseItEverLonger) {
  Machine machine;
  std::uint64_t last = 0;
  for (int trial = 0; trial < 5; ++trial) {
    machine.run(60'000, 3 * kMillisecond);
    EXPECT_TRUE(machine.sharing.is_paused(machine.now));
    const std::uint64_t pause = machine.pause();
    EXPECT_GT(pause, last);
    last = pause;
    machine.now += pause;
  }
  EXPECT_GT(last, 100 * kMillisecond);
}

TEST(Sharing, APauseEnds) {
  Machine machine;
  for (int trial = 0; trial < 100; ++trial) {
    machine.run(60'000, 3 * kMillisecond);
    machine.now += machine.pause();
  }
  machine.run(60'000, 3 * kMillisecond);
  EXPECT_LE(machine.pause(), 2100 * kMillisecond);
}

// Where it has gained much, a slice that is lost once is no reason.
TEST(Sharing, ASliceLostNowAndThenIsNone) {
  Machine machine;
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(machine.regions_until_pause(600'000, 310'000, 200), 200);
    machine.run(600'000, 3 * kMillisecond);
    EXPECT_FALSE(machine.sharing.is_paused(machine.now));
  }
}

// Parts too small for what it takes to hand them out.
TEST(Sharing, WhatCostsMoreThanItGainsIsPaused) {
  Machine machine;
  EXPECT_LT(machine.regions_until_pause(2'000, 6'000, 1'000), 200);
}

// The calling thread did all parts itself: that is no gain, and no loss.
TEST(Sharing, PartsThatNobodyElseTookAreNoGain) {
  Machine machine;
  for (int i = 0; i < 10'000; ++i) machine.run(60'000, 60'000);
  EXPECT_FALSE(machine.sharing.is_paused(machine.now));
  machine.run(60'000, 3 * kMillisecond);
  EXPECT_TRUE(machine.sharing.is_paused(machine.now));
}

}  // namespace
}  // namespace groove::kernels
