// Loops with several paths: the log of eager mode, byte for byte, with every exit forced too; and
// once each path has been seen, nearly everything runs compiled.
#include <groove/groove.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "groove/jit.h"
#include "src/core/allocator.h"
#include "tests/tracer/graph_executor.h"
#include "tests/tracer/path_loops.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/testing.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

constexpr int kSteps = 160;
constexpr int kStepsWithExits = 24;

jit::Summary at_half;
void note_half() { at_half = jit::summary(); }

class PathLoops : public ::testing::TestWithParam<PathLoop> {
 protected:
  void SetUp() override {
    compiler_ = registered_compiler();
    tt::set_hot(1);
    tt::set_synchronous(true);
  }
  void TearDown() override {
    tt::force_exit_at(-1);
    jit::set_mode(jit::Mode::kAuto);
    if (compiler_) register_compiler(*compiler_);
    tt::forget_everything();
  }
  static std::string eager(int steps) {
    jit::set_mode(jit::Mode::kEager);
    const std::string log = run_path_loop(GetParam(), steps, [] {});
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
    return log;
  }
  static void expect_same(const std::string& expected, int steps, const std::string& what) {
    const std::string actual = run_path_loop(GetParam(), steps, note_half);
    if (actual == expected) return;
    std::size_t at = 0, line = 1;
    while (at < actual.size() && at < expected.size() && actual[at] == expected[at])
      line += expected[at++] == '\n';
    ADD_FAILURE() << GetParam().name << ", " << what << ": differs from eager in line " << line
                  << " of the log\n"
                  << jit::explain();
  }
  static void expect_same_everywhere() {
    tt::set_hot(2);  // as it is outside tests
    expect_same(eager(kSteps), kSteps, "no exit");
    const jit::Summary end = jit::summary();
    const auto compiled = static_cast<double>(end.ops_compiled - at_half.ops_compiled);
    const auto alone = static_cast<double>(end.ops_eager - at_half.ops_eager);
    EXPECT_GE(compiled / (compiled + alone), GetParam().share) << jit::explain();
    tt::set_hot(1);
    const std::string expected = eager(kStepsWithExits);
    const std::int64_t calls = tt::longest_segment();
    for (std::int64_t call = 0; call <= calls || call < 12; ++call) {
      tt::forget_everything();
      tt::force_exit_at(call);
      expect_same(expected, kStepsWithExits, "exit forced at call " + std::to_string(call));
      tt::force_exit_at(-1);
    }
  }
  Compiler* compiler_ = nullptr;
};

TEST_P(PathLoops, RunTheSameGraphNodeByNode) {
  GraphCompiler by_node;
  register_compiler(by_node);
  expect_same_everywhere();
  tt::forget_everything();
}

TEST_P(PathLoops, RunTheSameCompiled) { expect_same_everywhere(); }

TEST_P(PathLoops, RunTheSameWithBackgroundCompilation) {
  tt::set_synchronous(false);
  const std::string expected = eager(kSteps);
  for (int repeat = 0; repeat < 2; ++repeat) expect_same(expected, kSteps, "background");
  jit::synchronize();
}

// Room for the last segment only: what comes goes again, and nothing else changes.
TEST_P(PathLoops, RunTheSameWithRoomForOneSegment) {
  GraphCompiler by_node;
  register_compiler(by_node);
  const std::string expected = eager(kSteps);
  tt::set_cache_bytes(1);
  expect_same(expected, kSteps, "one segment");
  EXPECT_LE(jit::summary().segments, 1u);
  tt::set_cache_bytes(0);
  tt::forget_everything();
}

INSTANTIATE_TEST_SUITE_P(All, PathLoops, ::testing::ValuesIn(path_loops()),
                         [](const auto& info) { return std::string(info.param.name); });

// Where the program looks at a value in one path of a loop, it does so in all of them: a path that
// is recorded when a run is left has the looks of what was matched before, by whichever segment.
TEST(Paths, WhatIsRecordedOnLeavingHasWhatWasLookedAt) {
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  for (const PathLoop& loop : path_loops())
    if (std::string(loop.name) == "episodes") run_path_loop(loop, 300, [] {});
  const auto place = [](const jit::CallView& call) {
    const std::size_t from = call.call.find("= ") + 2;
    return call.call.substr(from, call.call.find('(') - from) + std::to_string(call.line);
  };
  std::set<std::string> looked_at;
  const std::vector<jit::SegmentView> segments = jit::inspect();
  for (const jit::SegmentView& segment : segments)
    for (const jit::CallView& call : segment.calls)
      if (call.ends_stage) looked_at.insert(place(call));
  EXPECT_FALSE(looked_at.empty());
  for (const jit::SegmentView& segment : segments)
    for (std::size_t w = 0; w + 1 < segment.calls.size(); ++w)
      EXPECT_TRUE(segment.calls[w].ends_stage || !looked_at.contains(place(segment.calls[w])))
          << "segment " << segment.id << ", call " << w << " of " << segment.calls.size() << ": "
          << segment.calls[w].call;
  tt::forget_everything();
}

// What cannot be compiled runs eagerly; the same is tried three times and no more.
TEST(Paths, WhatCannotBeCompiledIsTriedThreeTimes) {
  class Refusing final : public Compiler {
   public:
    std::shared_ptr<Executable> compile(Graph graph) override {
      ++tries[graph.nodes.size()];
      throw Error("not today");
    }
    std::map<std::size_t, int> tries;
  };
  Compiler* const real = registered_compiler();
  Refusing refusing;
  register_compiler(refusing);
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  const PathLoop& loop = path_loops().front();
  const std::string log = run_path_loop(loop, 200, [] {});
  if (real) register_compiler(*real);
  tt::forget_everything();
  jit::set_mode(jit::Mode::kEager);
  EXPECT_EQ(run_path_loop(loop, 200, [] {}), log);
  jit::set_mode(jit::Mode::kAuto);
  EXPECT_FALSE(refusing.tries.empty());
  int most = 0;
  for (const auto& [nodes, count] : refusing.tries) most = std::max(most, count);
  // Two branches may have graphs of one size.
  EXPECT_LE(most, 2 * 3);
}

// A recording may take longer than it takes another thread to see that it will not do.
TEST(Paths, WhatIsLearnedMeanwhileMakesARecordingOutOfDate) {
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  const Tensor x = groove::ones({4});
  for (int i = 0; i < 8; ++i) {
    Tensor y = x * 2.0;
    for (int k = 0; k < 3; ++k) y = y.tanh();
    y.sum().item<float>();
  }
  const std::vector<tracer::SegmentPtr> segments = tracer::all_segments();
  ASSERT_FALSE(segments.empty());
  const tracer::Segment& segment = *segments.front();
  std::int32_t inner = 0;  // a call whose result nobody holds
  while (segment
             .slots[static_cast<std::size_t>(
                 segment.calls.at(static_cast<std::size_t>(inner)).outputs.front())]
             .is_held)
    ++inner;
  EXPECT_FALSE(tracer::is_outdated(segment));
  tracer::add_widened(segment.head, {{99, 0}, {inner, 7}});  // in longer segments that begin so
  EXPECT_FALSE(tracer::is_outdated(segment));
  tracer::add_widened(segment.head, {{inner, 0}});
  EXPECT_TRUE(tracer::is_outdated(segment));
  tt::forget_everything();
  EXPECT_FALSE(tracer::is_outdated(segment));
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// A training step on `rows` rows; every number of rows is a path of its own.
void step_on(int rows, const Tensor& weight, optim::SGD& optimizer) {
  optimizer.zero_grad();
  auto loss = groove::tanh(groove::matmul(groove::ones({rows, 6}), weight)).square().mean();
  loss.backward();
  optimizer.step();
}

// Shapes without end: what was compiled for those that do not come again is dropped. (The long run
// has 100,000 of them.)
TEST(Paths, ManyShapesTakeNoMoreMemory) {
  const char* const wanted = std::getenv("PATHS_TEST_SHAPES");
  const int shapes = wanted ? std::atoi(wanted) : 300;
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  tt::set_cache_bytes(256 << 10);
  const Tensor weight = groove::full({6, 6}, 0.1).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.01));
  const auto run = [&](int first, int last) {
    for (int rows = first; rows < last; ++rows)
      for (int repeat = 0; repeat < 4; ++repeat) step_on(rows % 500 + 1, weight, optimizer);
  };
  run(0, shapes / 2);
  const std::int64_t before = resident_bytes();
  const std::uint64_t hits = jit::summary().hits;
  run(shapes / 2, shapes);
  EXPECT_LT(resident_bytes() - before, 8 << 20);
  EXPECT_GT(jit::summary().hits, hits);
  tt::set_cache_bytes(0);
  tt::forget_everything();
}

// Eager mode needs the memory of a large step as well: it drives nothing out.
TEST(Paths, ALargeStepStaysCompiledBesideOthers) {
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  tt::set_cache_bytes(256 << 10);
  tt::set_large_arena(64 << 10);
  const Tensor weight = groove::full({6, 6}, 0.1).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.01));
  // Looked at in mid-step, so that the memory is kept from stage to stage.
  const auto step_in_two = [&](int rows) {
    optimizer.zero_grad();
    auto loss = groove::tanh(groove::matmul(groove::ones({rows, 6}), weight)).square().mean();
    EXPECT_GT(loss.item<float>(), 0);
    loss.backward();
    optimizer.step();
  };
  const auto run = [&](int steps) {
    for (int step = 0; step < steps; ++step) {
      step_in_two(20'000);
      step_in_two(3);
    }
  };
  run(8);
  const jit::Summary before = jit::summary();
  run(20);
  const jit::Summary after = jit::summary();
  EXPECT_EQ(after.ops_eager, before.ops_eager) << jit::explain();
  tt::set_large_arena(0);
  tt::set_cache_bytes(0);
  tt::forget_everything();
}

// Code for a path that is published while a run is under way: the run goes over to it after a
// stage, whose memory is there until the end. Guard pages find a write to memory that is not. When
// code is published depends on the machine, so there are many beginnings.
TEST(Paths, RunsGoOverToWhatIsPublishedMeanwhile) {
  tt::set_hot(2);
  tt::set_synchronous(false);
  jit::set_mode(jit::Mode::kAuto);
  set_guard_pages(true);
  for (int beginning = 0; beginning < 60; ++beginning) {
    tt::forget_everything();
    manual_seed(953);
    const Tensor weight = (groove::randn({4, 4}) * 0.5).requires_grad_();
    const Tensor x = groove::randn({4, 4}), y = groove::randn({4, 4});
    Tensor state = groove::zeros({4, 4});
    optim::SGD optimizer({weight}, optim::SGDOptions(0.02).momentum(0.9));
    for (int step = 0; step < 150; ++step) {
      Tensor loss = groove::zeros({});
      if (y.mean().item<double>() < 0.4) state = (y.mm(y) * 0.1).tanh() + 0.3;
      loss = loss + weight.mm(x.detach()).relu().square().mean();
      optimizer.zero_grad();
      if (step % 10 < 7) x.sum().item<double>();
      y.sum().item<double>();
      loss.backward();
      optimizer.step();
    }
    EXPECT_TRUE(std::isfinite(weight.sum().item<double>()));
  }
  set_guard_pages(false);
  tt::forget_everything();
}

// A chain of states: which of them are taken differs in each stretch of twenty, whose calls are
// always the same. No stretch of twenty is another path that is worth recording.
TEST(Paths, AreNotRecordedWhereTensorsTakeAnyPlace) {
  tt::set_hot(2);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  manual_seed(5);
  const std::uint64_t before = tt::recordings();
  Tensor x = groove::zeros({8}), density = x.sum();
  double sum = 0;
  std::uint64_t bits = 7;
  for (int step = 0; step < 3000; ++step) {
    const Tensor proposed = x + groove::randn({8}) * 0.3;
    const Tensor there = -proposed.square().sum();
    sum += (there - density).exp().item<double>();
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    if (bits >> 63) {
      x = proposed;
      density = there;
    }
    if (step % 20 == 0) sum += x.select(0, 0).item<double>();
  }
  EXPECT_TRUE(std::isfinite(sum));
  EXPECT_LE(tt::recordings() - before, 16u);
  tt::forget_everything();
}

}  // namespace
}  // namespace groove::testing
