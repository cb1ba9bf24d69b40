// Every loop, compiled, against itself in eager mode: byte for byte the same log; and again with an
// exit forced at every call of its segments.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include "src/core/allocator.h"
#include "tests/tracer/graph_executor.h"
#include "tests/tracer/loops.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/testing.h"

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
    tt::set_large_arena(0);
    set_guard_pages(false);
    if (compiler_) register_compiler(*compiler_);
    tt::forget_everything();
  }
  // The state that a loop ends in must be the same, whatever ran compiled.
  void expect_same(const std::string& what) {
    const std::string actual = run_loop(GetParam(), kSteps);
    if (actual == expected_) return;
    std::size_t at = 0, begin = 0, line = 1;
    for (; at < actual.size() && at < expected_.size() && actual[at] == expected_[at]; ++at)
      if (expected_[at] == '\n') begin = at + 1, ++line;
    ADD_FAILURE() << GetParam().name << ", " << what << ": differs from eager in line " << line
                  << " of the log\nexpected\n"
                  << expected_.substr(begin, 200) << "\ngot\n"
                  << actual.substr(begin, 200) << '\n'
                  << jit::explain();
  }
  void expect_same_with_exits() {
    expect_same("no exit");
    if (GetParam().is_compiled) {
      EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
    }
    const std::int64_t calls = tt::longest_segment();
    for (std::int64_t call = 0; call <= calls; ++call) {
      tt::forget_everything();
      tt::force_exit_at(call);
      expect_same("exit forced at call " + std::to_string(call));
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

// Steps are compared by their operators (tracer/watch/balance.h), and the share that runs compiled
// is one of them: what a compiled run stands for is what eager mode would have run. About: a
// backward that is compiled by itself counts the nodes it has, which where views are written are
// fewer.
TEST_P(Loops, CountTheSameOperators) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  const auto count = [&](jit::Mode mode) {
    jit::set_mode(mode);
    const tracer::Coverage before = tracer::coverage();
    run_loop(GetParam(), kSteps);
    const tracer::Coverage after = tracer::coverage();
    return after.eager - before.eager + after.compiled - before.compiled;
  };
  const auto expected = static_cast<double>(count(jit::Mode::kEager));
  EXPECT_NEAR(static_cast<double>(count(jit::Mode::kAuto)), expected, expected / 6);
}

// Gradients lie in the memory that a compiled run works in, however small it is.
TEST_P(Loops, RunTheSameWithGradientsInTheArena) {
  ASSERT_TRUE(compiler_ != nullptr) << "no compiler is linked";
  tt::set_large_arena(1);
  expect_same("in the arena");
  tt::forget_everything();
  tt::set_check(1);
  expect_same("in the arena, every run checked");
  tt::set_check(-1);
  tt::forget_everything();
  tt::set_synchronous(false);
  expect_same("in the arena, background");
  jit::synchronize();
}

// The memory of gradients that are not kept is the loop's own.
TEST(Gradients, OfASteadyStepTakeNoMemoryOfTheirOwn) {
  constexpr std::int64_t kRows = 1024, kWide = 256;
  const auto peak = [](bool keeps) {
    tt::set_hot(1);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
    std::vector<Tensor> weights, kept;
    for (int i = 0; i < 4; ++i)
      weights.push_back((groove::randn({kWide, kWide}) * 0.04).requires_grad_());
    optim::SGD optimizer(weights, optim::SGDOptions(0.01));
    std::size_t most = 0;
    for (int step = 0; step < 12; ++step) {
      if (step == 8) memory::reset_peak();
      optimizer.zero_grad();
      Tensor x = groove::ones({kRows, kWide});
      for (const Tensor& weight : weights) x = groove::tanh(x.mm(weight));
      const Tensor loss = x.mean();
      loss.backward();
      optimizer.step();
      loss.item<float>();
      if (keeps && step < 4) {
        kept.clear();
        for (const Tensor& weight : weights) kept.push_back(weight.grad());
      }
      if (step == 4) kept.clear();
      most = memory::statistics().peak;
    }
    tt::forget_everything();
    return most;
  };
  const std::size_t kept = peak(true), lent = peak(false);
  EXPECT_GE(kept, lent + 2 * kWide * kWide * 4);
}

INSTANTIATE_TEST_SUITE_P(Gradients, Loops, ::testing::ValuesIn(grad_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(OddCode, Loops, ::testing::ValuesIn(code_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Odd, Loops, ::testing::ValuesIn(odd_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Live, Loops, ::testing::ValuesIn(live_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(UsedUp, Loops, ::testing::ValuesIn(used_up_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Views, Loops, ::testing::ValuesIn(view_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Complex, Loops, ::testing::ValuesIn(complex_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Mixed, Loops, ::testing::ValuesIn(mixed_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Lives, Loops, ::testing::ValuesIn(life_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Rules, Loops, ::testing::ValuesIn(rule_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Hazards, Loops, ::testing::ValuesIn(hazard_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Data, Loops, ::testing::ValuesIn(data_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(UserCode, Loops, ::testing::ValuesIn(user_code_loops()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(All, Loops, ::testing::ValuesIn(loops()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace groove::testing
