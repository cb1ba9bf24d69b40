// What is told as saved, from the times of steps alone: programs are given by what an operator
// takes without the tracer and compiled.
#include "tracer/watch/savings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

constexpr double kWatching = Investment::kToWatchOperator;  // nanoseconds

// Steps of one program, and what those that were compiled saved by the clock.
class Program {
 public:
  Program() : before_(steps()) {}
  void watch(int count, double each) {
    for (int i = 0; i < count; ++i) step(0, each + kWatching, false);
  }
  void compile(int count, double each, double alone) {
    for (int i = 0; i < count; ++i) {
      step(kOperators, each, false);
      saved_ += kOperators * (alone - each);
    }
  }
  void pause(int count, double each) {
    for (int i = 0; i < count; ++i) step(0, each, true);
  }
  double saved() const { return saved_; }
  double told() const {
    const Steps now = steps();
    return now.gained - before_.gained + kWatching * kOperators * watched_;
  }
  std::uint64_t compared() const { return steps().compared - before_.compared; }

 private:
  static constexpr std::uint64_t kOperators = 1000;
  void step(std::uint64_t compiled, double each, bool is_paused) {
    savings_.on_step(
        {kOperators, compiled, static_cast<std::int64_t>(each * kOperators), is_paused});
    watched_ += compiled == 0 && !is_paused ? 1 : 0;
  }

  Steps before_;
  Savings savings_;
  double saved_ = 0, watched_ = 0;
};

void expect_told(const Program& program, double part = 0.01) {
  EXPECT_NEAR(program.told(), program.saved(), part * program.saved());
}

TEST(Savings, StepsBeforeAnythingWasCompiledAreTheMeasure) {
  Program program;
  program.watch(30, 500);
  program.compile(1000, 200, 500);
  expect_told(program);
  EXPECT_EQ(program.compared(), 1030 * 1000U);
}

// Of them the first take longer, and a few whatever they are.
TEST(Savings, FirstStepsAndOddOnesAreNoMeasure) {
  Program program;
  program.watch(4, 5000);
  for (int i = 0; i < 6; ++i) {
    program.watch(4, 500);
    program.watch(1, 2500);
  }
  program.compile(1000, 200, 500);
  expect_told(program);
}

// An actor and a critic in turns: a step of the one takes longer for each operator than one of the
// other, and says nothing of it.
TEST(Savings, StepsAreComparedWithTheirLike) {
  Savings savings;
  const Steps before = steps();
  const auto both = [&](double compiled, double faster) {
    for (const auto& [operators, each] : {std::pair(100U, 1000.0), std::pair(400U, 4000.0)})
      savings.on_step(
          {operators, static_cast<std::uint64_t>(compiled * operators),
           static_cast<std::int64_t>((each * faster + (compiled == 0 ? kWatching : 0)) * operators),
           false});
  };
  for (int i = 0; i < 20; ++i) both(0, 1);
  for (int i = 0; i < 100; ++i) both(1, 0.5);
  const double saved = 100 * (0.5 * 1000 * 100 + 0.5 * 4000 * 400);
  const double watching = 20 * kWatching * (100 + 400);
  EXPECT_NEAR(steps().gained - before.gained + watching, saved, 0.01 * saved);
}

TEST(Savings, WhatIsSlowerIsLost) {
  Program program;
  program.watch(30, 500);
  program.compile(1000, 600, 500);
  EXPECT_NEAR(program.told(), program.saved(), -0.01 * program.saved());
}

// Many steps without the tracer tell more than those of long ago, of all such steps; a few are
// among those that find least in the caches.
TEST(Savings, PausedStepsAreTheMeasureWhereThereAreMany) {
  Program few;
  few.watch(30, 500);
  few.compile(500, 200, 500);
  few.pause(9, 700);
  few.compile(500, 200, 500);
  expect_told(few);
  Program many;
  many.watch(30, 500);
  many.compile(500, 200, 800);
  many.pause(40, 800);
  many.compile(500, 200, 800);
  expect_told(many);
}

TEST(Savings, AStepOfAPauseThatWritesAFileIsNoGain) {
  Program program;
  program.watch(30, 500);
  program.compile(500, 500, 500);
  program.pause(20, 500);
  program.pause(1, 50'000);
  program.compile(500, 500, 500);
  EXPECT_LT(program.told() / 1'000'000, 0.1 * 500);
}

// Of what is compiled from the first step on nothing is known.
TEST(Savings, WithoutAnythingToCompareNothingIsTold) {
  Program program;
  program.compile(1000, 200, 200);
  EXPECT_EQ(program.told(), 0);
  EXPECT_EQ(program.compared(), 0U);
}

}  // namespace
}  // namespace groove::tracer
