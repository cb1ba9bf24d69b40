// Loops of any number of turns: as a whole they are other loops each time, whatever ends them, and
// now and then the same one comes twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tests/tracer/numbered_calls.h"
#include "tracer/watch/discovery.h"

namespace groove::testing {
namespace {

using tracer::Discovery;

tracer::Stretch stretch(std::uint64_t first, std::uint64_t last) {
  tracer::Stretch all;
  for (std::uint64_t i = first; i <= last; ++i) all.append(call(i));
  return all;
}

void watch(Discovery& discovery, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i <= last; ++i) discovery.on_call(call(i), Discovery::kOpCost);
}

// Sequences of any length: each length comes again sooner or later, some a few times within a short
// while, and hardly any is worth recording as a whole beside the loop over its elements.
TEST(Discovery, StepsOfAnyLengthAreNotRecordedOneByOne) {
  const tracer::Stretch element = stretch(1, 4);
  const auto has_whole_steps = [&element](unsigned seed) {
    Discovery discovery;
    discovery.set_hot(4);
    std::mt19937_64 random(seed);
    for (int step = 0; step < 2000; ++step) {
      const Discovery::Plan* const plan = discovery.plan(call(10));
      if (plan && plan->kind == Discovery::Kind::kStep) return true;
      watch(discovery, 10, 15);
      // Compiled: runs of eight elements, and one of the rest.
      for (std::uint64_t left = 1 + random() % 100; left > 0;) {
        const std::uint64_t together = std::min<std::uint64_t>(left, 8);
        left -= together;
        tracer::Stretch run;
        for (std::uint64_t i = 0; i < together; ++i) run.append(element);
        discovery.on_run_start();
        discovery.on_run(call(1), call(4), run, true);
      }
      discovery.on_call(call(20), Discovery::kBigCost);
      discovery.on_step_end();
    }
    return false;
  };
  int programs = 0;
  for (unsigned seed = 0; seed < 20; ++seed) programs += has_whole_steps(seed) ? 1 : 0;
  EXPECT_LE(programs, 2);
}

// A loop's iterations come in a row any number of times; many of them are no loop of their own.
TEST(Discovery, ManyIterationsOfALoopAreNoOtherLoop) {
  Discovery discovery;
  discovery.set_hot(2);
  std::mt19937_64 random(31);
  const tracer::Stretch element = stretch(1, 4);
  const auto run = [&](int elements) {
    tracer::Stretch all;
    for (int i = 0; i < elements; ++i) all.append(element);
    discovery.on_run_start();
    discovery.on_run(call(1), call(4), all, true);
  };
  for (int i = 0; i < 64; ++i) watch(discovery, 1, 4);
  if (const Discovery::Plan* const plan = discovery.plan(call(1))) discovery.take_plan(*plan);
  // Of fifteen iterations one is watched, as a run has been left.
  for (int turn = 0; turn < 400; ++turn) {
    for (const int elements : {8, 4, 2}) run(elements);
    const Discovery::Plan* const plan = discovery.plan(call(1));
    ASSERT_LE(plan ? plan->length : 0, 4U * 8) << "turn " << turn;
    watch(discovery, 1, 4);
  }
}

// The likelihood of a sequence is looked at when it ends: where no optimizer ends a step, reads do.
TEST(Discovery, StretchesOfAnyLengthBetweenReadsAreNotRecordedOneByOne) {
  const auto has_whole_ones = [](unsigned seed) {
    Discovery discovery;
    discovery.set_hot(4);
    std::mt19937_64 random(seed);
    for (int sequence = 0; sequence < 2000; ++sequence) {
      const Discovery::Plan* const plan = discovery.plan(call(10));
      if (plan && plan->kind == Discovery::Kind::kHostRead) return true;
      watch(discovery, 10, 15);
      for (std::uint64_t left = 1 + random() % 100; left > 0; --left) {
        discovery.on_run_start();
        discovery.on_run(call(1), call(4), stretch(1, 4), true);
      }
      watch(discovery, 20, 20);
      discovery.on_host_read();
    }
    return false;
  };
  int programs = 0;
  for (unsigned seed = 0; seed < 20; ++seed) programs += has_whole_ones(seed) ? 1 : 0;
  EXPECT_LE(programs, 2);
}

// Rounds of turns, of which each is compiled in part: how often was a round to be recorded?
int rounds_planned(const std::function<std::uint64_t()>& turns) {
  Discovery discovery;
  discovery.set_hot(2);
  int plans = 0;
  const auto look = [&](std::uint64_t head) {
    const Discovery::Plan* const plan = discovery.plan(call(head));
    if (!plan || plan->length <= 20) return;
    ++plans;
    const Discovery::Plan taken = *plan;
    discovery.take_plan(taken);
  };
  const auto run = [&](std::uint64_t first, std::uint64_t last) {
    look(first);
    discovery.on_run_start();
    discovery.on_run(call(first), call(last), stretch(first, last), true);
  };
  for (int round = 0; round < 100; ++round) {
    run(30, 33);
    for (std::uint64_t left = turns(); left > 0; --left) {
      look(1);
      watch(discovery, 1, 12);
      run(13, 20);
    }
  }
  return plans;
}

// Two rounds of as many turns come one after the other sooner or later.
TEST(Discovery, RoundsOfAnyNumberOfTurnsAreNoCycle) {
  int plans = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    plans += rounds_planned([&] { return 2 + random() % 4; });
  }
  EXPECT_LE(plans, 20);
  EXPECT_GE(rounds_planned([] { return 4; }), 1);
}

// The longest stretch of these turns that is to be recorded; the program looks at the end of each.
std::size_t longest_between_reads(int turns) {
  Discovery discovery;
  discovery.set_hot(2);
  std::size_t longest = 0;
  const auto look = [&](std::uint64_t head) {
    const Discovery::Plan* const plan = discovery.plan(call(head));
    if (plan) longest = std::max(longest, plan->length);
  };
  for (int round = 0; round < 8; ++round) {
    look(20);
    watch(discovery, 20, 21);
    for (int turn = 0; turn < turns; ++turn) {
      look(1);
      watch(discovery, 1, 12);
    }
    discovery.on_host_read();
  }
  return longest;
}

// A simulation looks each 300 iterations, an answer takes 20 turns.
TEST(Discovery, VeryManyTurnsAreNoIteration) {
  EXPECT_EQ(longest_between_reads(20), 2u + 20 * 12);
  EXPECT_LE(longest_between_reads(300), 8u * 12);
  EXPECT_GE(longest_between_reads(300), 12u);
}

// A coin in each of ten iterations between two looks: as many heads in another order are another
// stretch.
TEST(Discovery, TheSameCallsInAnotherOrderAreAnotherStretch) {
  Discovery discovery;
  discovery.set_hot(2);
  std::mt19937_64 random(41);
  for (int look = 0; look < 200; ++look) {
    const Discovery::Plan* const plan = discovery.plan(call(40));
    ASSERT_TRUE(!plan || plan->kind != Discovery::Kind::kHostRead) << "look " << look;
    watch(discovery, 40, 40);
    int heads = 0;
    for (int i = 0; i < 12; ++i) {
      const int left = 12 - i;
      const bool is_head = static_cast<int>(random() % static_cast<unsigned>(left)) < 6 - heads;
      heads += is_head;
      if (is_head)
        watch(discovery, 1, 8);
      else
        watch(discovery, 11, 19);
    }
    discovery.on_host_read();
  }
}

}  // namespace
}  // namespace groove::testing
