// Whether the tracer pauses, from the times of steps alone: programs are given by what a step takes
// with it and without.
#include "tracer/watch/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "groove/groove.h"
#include "groove/jit.h"
#include "tests/tracer/loop_log.h"
#include "tracer/tell/testing.h"

namespace groove::tracer {
namespace {

constexpr double kMillisecond = 1e6;

struct Outcome {
  double share_paused, time;  // … against that of all steps without the tracer
};

// `with` and `without` give the milliseconds of step `i`; `noise` is a part of these.
template <typename With, typename Without>
Outcome run(int steps, const With& with, const Without& without, double noise = 0.05,
            std::uint64_t operators = 1000) {
  Balance balance;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> chance(1 - noise, 1 + noise);
  double now = 0, alone = 0, paused = 0;
  bool is_paused = false;
  for (int i = 0; i < steps; ++i) {
    const double factor = chance(random) * kMillisecond;
    now += factor * (is_paused ? without(i) : with(i));
    alone += factor * without(i);
    paused += is_paused;
    is_paused = balance.on_step(operators, static_cast<std::int64_t>(now));
  }
  return {paused / steps, now / alone};
}

const auto kOneMillisecond = [](int) { return 1.0; };

TEST(Balance, AProgramThatGainsIsHardlyPaused) {
  const Outcome told = run(
      5000, [](int) { return 0.4; }, kOneMillisecond);
  EXPECT_LT(told.share_paused, 0.01);
  EXPECT_LT(told.time, 0.41);
}

TEST(Balance, AProgramThatLosesIsPaused) {
  for (const double loss : {1.1, 1.3, 2.0, 10.0}) {
    const Outcome told = run(
        5000, [loss](int) { return loss; }, kOneMillisecond);
    EXPECT_LT(told.time, 1.05) << loss;
    EXPECT_GT(told.share_paused, 0.5) << loss;
  }
}

// Steps of 10 us, of which one in 23 takes twenty times as long: whatever is timed together is
// about as many of them, or slow steps would be steps of few operators, and compared with nothing.
TEST(ShortSteps, AreAsManyOperatorsWhateverTheyTake) {
  ShortSteps steps;
  std::uint64_t operators = 0;
  std::int64_t passed = 0;
  int slow = 0;
  for (int i = 0; i < 4'000; ++i) {
    operators += 20;
    passed += i % 23 == 22 ? 200'000 : 10'000;
    if (!steps.are_one(operators, passed)) continue;
    if (i > 400) {
      EXPECT_GE(operators, 200U) << i;
      EXPECT_LE(operators, 800U) << i;
      slow += passed > 200'000 ? 1 : 0;
    }
    operators = 0;
    passed = 0;
  }
  EXPECT_GT(slow, 50) << "slow ones are among them";
}

TEST(ShortSteps, ChangeWithTheProgram) {
  ShortSteps steps;
  const auto count_for = [&steps](std::int64_t of_one) {
    int count = 0;
    std::int64_t passed = 0;
    for (int i = 0; i < 1'000; ++i) {
      passed += of_one;
      if (!steps.are_one(static_cast<std::uint64_t>(passed / of_one), passed)) continue;
      count += i >= 500 ? 1 : 0;
      passed = 0;
    }
    return count;
  };
  EXPECT_GT(count_for(1'000'000), 490) << "a long step is one";
  EXPECT_LT(count_for(1'000), 10) << "short ones are timed together";
  EXPECT_GT(count_for(1'000'000), 490);
}

// What makes no difference is no reason to give up what is compiled.
TEST(Balance, AProgramThatTakesAsLongIsNotPaused) {
  for (const double ratio : {0.99, 1.0, 1.01})
    EXPECT_LT(run(
                  5000, [ratio](int) { return ratio; }, kOneMillisecond)
                  .share_paused,
              0.05)
        << ratio;
}

// Some steps take long whatever runs them, and a recording is paid for elsewhere.
TEST(Balance, SingleLongStepsAreNoReasonToPause) {
  const auto frees = [](int i) { return i % 20 == 13 ? 12.0 : 0.0; };
  const Outcome both = run(
      4000, [&](int i) { return 0.8 + frees(i); }, [&](int i) { return 1 + frees(i); });
  EXPECT_LT(both.share_paused, 0.02);
  const Outcome once = run(
      4000, [](int i) { return i == 200 ? 25.0 : 0.6; }, kOneMillisecond);
  EXPECT_LT(once.share_paused, 0.02);
}

TEST(Balance, StepsThatComeToTakeLongerAreComparedWithNewOnes) {
  const auto of_phase = [](int i) { return i < 300 ? 0.7 : 1.2; };
  const Outcome told = run(
      4000, [&](int i) { return 0.8 * of_phase(i); }, of_phase);
  EXPECT_LT(told.share_paused, 0.03);
}

// A program does this for a while, then that, which takes some times as long or a part of it for as
// many operators: that is no loss of the tracer's.
TEST(Balance, OtherWorkIsNoLoss) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> drawn(-1.2, 1.2);
  constexpr int kPrograms = 40;
  double all_that_lose = 0;
  for (int program = 0; program < kPrograms; ++program) {
    std::vector<double> work;
    while (work.size() < 1000) {
      const auto steps = static_cast<std::size_t>(50 + random() % 200);
      work.insert(work.end(), steps, std::exp(drawn(random)));
    }
    const auto without = [&work](int i) { return work[static_cast<std::size_t>(i)]; };
    for (const double gain : {0.5, 0.8}) {
      const Outcome told = run(
          1000, [&](int i) { return gain * without(i); }, without);
      EXPECT_LT(told.share_paused, 0.1) << "program " << program << ", " << gain;
    }
    const Outcome told = run(
        1000, [&](int i) { return 1.3 * without(i); }, without);
    all_that_lose += told.time / kPrograms;
  }
  EXPECT_LT(all_that_lose, 1.12);
}

TEST(Balance, AProgramThatMostlyGainsAndLosesInAllIsPaused) {
  const auto with = [](int i) { return i % 5 == 0 ? 4.5 : 0.6; };
  EXPECT_LT(run(8000, with, kOneMillisecond).time, 1.1);
}

// It goes on trying: what loses while it is learnt may gain once it is known.
TEST(Balance, AProgramThatGainsLateIsTracedThen) {
  int traced = 0;
  const auto learns = [&traced](int) { return ++traced < 200 ? 1.2 : 0.5; };
  EXPECT_LT(run(20000, learns, kOneMillisecond).time, 0.75);
}

// Steps of two kinds, one of them a hundred times as long, are each compared with their like.
TEST(Balance, StepsAreComparedWithTheirLike) {
  Balance balance;
  double now = 0;
  bool is_paused = false;
  int paused = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool is_long = i % 50 == 49;
    now += (is_long ? 100 : 1) * (is_paused ? 1.0 : 0.9) * kMillisecond;
    paused += is_paused;
    is_paused = balance.on_step(is_long ? 90'000 : 1000, static_cast<std::int64_t>(now));
  }
  EXPECT_LT(paused, 100);
}

TEST(Balance, StepsWithoutOperatorsTellNothing) {
  Balance balance;
  int paused = 0;
  for (int i = 0; i < 2000; ++i) paused += balance.on_step(0, std::int64_t{i} * 1'000'000);
  EXPECT_LT(paused, 100);
}

// A pause may begin and end behind any step.
TEST(Balance, PausesKeepTheBits) {
  const auto train = [] {
    groove::testing::Log log;
    manual_seed(3);
    const Tensor weight = groove::randn({5, 3}).requires_grad_();
    optim::Adam optimizer({weight}, 0.05);
    Tensor state = groove::zeros({2, 3});
    for (int i = 0; i < 120; ++i) {
      optimizer.zero_grad();
      state = (groove::matmul(groove::randn({2, 5}), weight) + state.detach()).tanh();
      const Tensor loss = state.square().mean();
      loss.backward();
      if (i % 3 == 0) log.tensor(weight.grad());
      optimizer.step();
      if (i % 5 == 1) log.number(loss.item<double>());
    }
    log.parameter(weight);
    return log.text;
  };
  jit::set_mode(jit::Mode::kEager);
  const std::string expected = train();
  jit::set_mode(jit::Mode::kAuto);
  testing::set_hot(1);
  testing::set_synchronous(true);
  for (const std::int64_t every : {1, 2, 3, 7, 20}) {
    testing::forget_everything();
    testing::set_pauses(every);
    EXPECT_EQ(train(), expected) << every;
    if (every > 2) {
      EXPECT_GT(jit::summary().hits, 0u) << every;
    }
  }
  testing::set_pauses(0);
  testing::forget_everything();
}

}  // namespace
}  // namespace groove::tracer
