// What is a sign that calls are worth recording, and what they are known for before that.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "groove/groove.h"
#include "groove/jit.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/testing.h"
#include "tracer/thread/beside.h"
#include "tracer/watch/discovery.h"

namespace groove::tracer {
namespace {

namespace tt = testing;

class Evidence : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(2);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    tt::set_synchronous(true);
    tt::forget_everything();
  }
};

std::uint64_t left() {
  std::uint64_t sum = 0;
  for (const SegmentPtr& segment : all_segments()) sum += segment->statistics.leaves;
  return sum;
}

TEST_F(Evidence, AtomsTellWhereAViewBegan) {
  Discovery discovery;
  discovery.set_hot(2);
  for (const std::uint32_t position : {3u, 5u, 7u}) {
    discovery.on_call(11, Discovery::kOpCost);
    discovery.on_call(12, Discovery::kViewCost, position);
    discovery.on_call(13, Discovery::kBigCost);
    discovery.on_step_end();
  }
  ASSERT_TRUE(discovery.plan(11));
  const std::vector<std::uint64_t> times = discovery.last_times(*discovery.plan(11));
  EXPECT_EQ(times, (std::vector<std::uint64_t>{6, 3, 0}));
  EXPECT_TRUE(discovery.has_moved(times, 1, 12, 9));
  EXPECT_TRUE(discovery.has_moved(times, 1, 12, 7)) << "by chance where it was the last time";
  EXPECT_FALSE(discovery.has_moved({6}, 1, 12, 7));
  EXPECT_FALSE(discovery.has_moved(times, 1, 14, 9)) << "another call";
  EXPECT_FALSE(discovery.has_moved({6}, 4, 12, 9)) << "it has not come yet";
  EXPECT_FALSE(discovery.has_moved({}, 1, 12, 9));
}

// Every third iteration ends early, so that no call comes only once in three of them, and each
// comes at other intervals from one time to the next. The loop begins where it can be told from the
// other places at which its first call comes.
TEST_F(Evidence, AnIterationOfThreePartsIsSeen) {
  tt::set_synchronous(false);  // and so is no search
  Discovery discovery;
  discovery.set_hot(2);
  for (int i = 0; i < 60 && !discovery.plan(21); ++i)
    for (std::uint64_t call = 21; call < (i % 3 == 2 ? 26 : 41); ++call)
      discovery.on_call(call, Discovery::kOpCost);
  ASSERT_TRUE(discovery.plan(21));
  EXPECT_EQ(discovery.plan(21)->length, 45);
  EXPECT_EQ(discovery.plan(21)->before, 25);
  EXPECT_EQ(discovery.plan(21)->kind, Discovery::Kind::kCycle);
}

// Every so often a step differs from the others, such as one that prints. However the times at
// which they are looked at fall together with it, what comes mostly is recorded first, and soon.
TEST_F(Evidence, WhatComesMostlyIsRecordedFirst) {
  for (const int period : {4, 5, 6, 8, 16})
    for (int phase = 0; phase < period; ++phase) {
      Discovery discovery;
      discovery.set_hot(2);
      int recordings = 0, accepted = 0;
      for (int step = phase; accepted == 0 && step < phase + 10 * period; ++step) {
        const bool is_odd = step % period == period - 1;
        std::optional<Discovery::Plan> plan;
        if (const Discovery::Plan* const known = discovery.plan(11)) {
          plan = *known;
          discovery.take_plan(*plan);
          ++recordings;
        }
        Stretch calls;
        for (const std::uint64_t call : {11, is_odd ? 15 : 12, 13}) {
          discovery.on_call(call, Discovery::kOpCost);
          calls.append(call);
        }
        if (plan && discovery.accepts(*plan, calls)) accepted = is_odd ? -1 : 1;
        discovery.on_step_end();
      }
      EXPECT_EQ(accepted, 1) << period << ", " << phase;
      EXPECT_LE(recordings, 3) << period << ", " << phase;
    }
}

TEST_F(Evidence, RunsTellWhetherAnythingInThemMoved) {
  Stretch run;
  for (const std::uint64_t call : {21u, 22u, 23u}) run.append(call);
  for (const bool moves : {true, false}) {
    Discovery discovery;
    discovery.set_hot(2);
    for (const std::uint32_t position : {5u, 7u, 5u}) {
      discovery.on_call(11, Discovery::kBigCost);
      discovery.on_run(21, 23, run, true, moves ? position : 5);
      discovery.on_step_end();
    }
    ASSERT_TRUE(discovery.plan(11));
    const std::vector<std::uint64_t> times = discovery.last_times(*discovery.plan(11));
    ASSERT_EQ(times.size(), 3u);
    EXPECT_EQ(discovery.has_moved(times, 2, 22, 9), moves);
    EXPECT_FALSE(discovery.has_moved({times.front()}, 2, 22, 9)) << "two times tell";
  }
}

// A ring that is written at one place after the other: no run needs to be left to learn that.
TEST_F(Evidence, ViewsThatMoveAreNumbersFromTheFirstRecordingOn) {
  tt::set_synchronous(true);
  auto ring = groove::zeros({64, 4});
  const auto x = groove::rand({4});
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    ring[i % 64] = x * 2.0 + ring.narrow(0, i, 1).sum();
    sum += (ring * 0.5).tanh().sum().item<double>();
  }
  EXPECT_GT(sum, 0);
  EXPECT_EQ(left(), 0u);
}

// … and those that stay are constants, on which code may depend.
TEST_F(Evidence, ViewsThatStayAreConstants) {
  tt::set_synchronous(true);
  auto x = groove::rand({8});
  for (int i = 0; i < 20; ++i) {
    const auto parts = x.chunk(2);
    (parts[0] * 2.0 + parts[1]).tanh().sum().item<double>();
  }
  std::size_t views = 0;
  for (const SegmentPtr& segment : all_segments())
    for (const RecordedCall& call : segment->calls)
      if (call.op->kind == OpKind::kView && !call.number_kinds.empty()) {
        ++views;
        EXPECT_TRUE(call.has_settled_position);
      }
  EXPECT_GT(views, 0u);
}

// Eager iterations that are run to be timed, and what was seen while a loop was compiled, are no
// loops of their own.
TEST_F(Evidence, NothingIsRecordedThatRunsAlready) {
  tt::set_synchronous(false);
  nn::Sequential net(nn::Linear(4, 16), nn::ReLU(), nn::Linear(16, 16), nn::Tanh(),
                     nn::Linear(16, 1));
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
  for (int i = 0; i < 1500; ++i) {
    optimizer.zero_grad();
    const auto x = groove::rand({8, 4});
    groove::mse_loss(net->forward(x), x.sum(1, true)).backward();
    optimizer.step();
    if (i == 20) wait_for_compiler();
  }
  wait_for_compiler();
  const std::vector<SegmentPtr> segments = all_segments();
  ASSERT_FALSE(segments.empty());
  const auto hashes = [](const Segment& segment) {
    std::vector<std::uint64_t> all;
    for (const RecordedCall& call : segment.calls) all.push_back(call.hash);
    return all;
  };
  for (const SegmentPtr& whole : segments)
    for (const SegmentPtr& part : segments) {
      if (part->id <= whole->id) continue;
      const std::vector<std::uint64_t> all = hashes(*whole), some = hashes(*part);
      EXPECT_EQ(std::search(all.begin(), all.end(), some.begin(), some.end()), all.end())
          << "segment " << part->id << " of " << some.size() << " calls lies in segment "
          << whole->id << " of " << all.size();
    }
}

}  // namespace
}  // namespace groove::tracer
