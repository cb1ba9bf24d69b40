// Every loop, compiled, against itself in eager mode: byte for byte the same log; and again with an
// exit forced at every word of its segments.
#include <gtest/gtest.h>

#include "groove/jit.h"
#include "src/core/allocator.h"
#include "tests/tracer/graph_executor.h"
#include "tests/tracer/loops.h"
#include "tracer/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

constexpr int kSteps = 14;

class Loops : public ::testing::TestWithParam<Loop> {
 protected:
  void SetUp() override {
    compiler_ = registered_compiler();
    tt::set_hot(1);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kEager);
    expected_ = run_loop(GetParam(), kSteps);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    tt::force_exit_at(-1);
    tt::set_check(-1);
    set_guard_pages(false);
    tt::forget_everything();
    if (compiler_) register_compiler(*compiler_);
  }
  // The state that a loop ends in must be the same, whatever ran compiled.
  void expect_same(const std::string& what) {
    const std::string actual = run_loop(GetParam(), kSteps);
    if (actual == expected_) return;
    std::size_t at = 0, line = 1;
    while (at < actual.size() && at < expected_.size() && actual[at] == expected_[at])
      line += expected_[at++] == '\n';
    ADD_FAILURE() << GetParam().name << ", " << what << ": differs from eager in line " << line
                  << " of the log\n"
                  << jit::explain();
  }
  void expect_same_with_exits() {
    expect_same("no exit");
    if (GetParam().is_compiled) {
      EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
    }
    const std::int64_t words = tt::longest_segment();
    for (std::int64_t word = 0; word <= words; ++word) {
      tt::forget_everything();
      tt::force_exit_at(word);
      expect_same("exit forced at word " + std::to_string(word));
      tt::force_exit_at(-1);
    }
  }
  std::string expected_;
  Compiler* compiler_ = nullptr;
};

TEST_P(Loops, RunTheSameGraphNodeByNode) {
  GraphCompiler by_node;
  register_compiler(by_node);
  expect_same_with_exits();
  tt::forget_everything();
}

TEST_P(Loops, RunTheSameCompiled) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  expect_same_with_exits();
}

TEST_P(Loops, RunTheSameWithBackgroundCompilation) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  tt::set_synchronous(false);
  for (int repeat = 0; repeat < 3; ++repeat) expect_same("background");
  jit::synchronize();
}

TEST_P(Loops, RunTheSameAtGuardPages) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  set_guard_pages(true);
  expect_same("guard pages");
}

// A difference is an error, thrown at the end of the run.
TEST_P(Loops, RunTheSameWhenEachRunIsChecked) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  tt::set_check(1);
  EXPECT_NO_THROW(expect_same("every run checked"));
}

INSTANTIATE_TEST_SUITE_P(OddCode, Loops, ::testing::ValuesIn(code_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Odd, Loops, ::testing::ValuesIn(odd_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Live, Loops, ::testing::ValuesIn(live_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Views, Loops, ::testing::ValuesIn(view_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Lives, Loops, ::testing::ValuesIn(life_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(All, Loops, ::testing::ValuesIn(loops()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace groove::testing
