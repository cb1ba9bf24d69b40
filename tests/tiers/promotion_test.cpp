// Tier 2 in compiled segments: hot kernels change to LLVM's code while a loop runs, and nothing
// else changes; a process that does not need LLVM does not load it.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "groove/groove.h"
#include "groove/jit.h"
#include "jit/tiered_kernel.h"
#include "tracer/tell/testing.h"

namespace groove::jit {
namespace {

bool is_llvm_loaded() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libgroove-llvm") != std::string::npos) return true;
  }
  return false;
}

// The first test of the program: looks before anything has asked for tier 2.
TEST(ProcessStart, DoesNotLoadLlvm) {
  const Tensor x = groove::ones({100}) * 2.0;
  EXPECT_EQ(x.sum().item<float>(), 200.0f);
  EXPECT_FALSE(is_llvm_loaded());
}

// A loop with maps, rows and columns, whose every state is kept as text of bits.
std::vector<float> train(int steps = 80) {
  groove::manual_seed(3);
  nn::Sequential net(nn::Linear(37, 65), nn::Tanh(), nn::Linear(65, 11));
  optim::Adam adam(net->parameters(), optim::AdamOptions(0.01));
  const Tensor x = groove::randn({29, 37});
  const Tensor y = groove::randint(0, 11, {29}, groove::kLong);
  std::vector<float> seen;
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    adam.step();
    seen.push_back(loss.item<float>());
  }
  for (const Tensor& parameter : net->parameters()) {
    const float* const data = parameter.const_data_ptr<float>();
    seen.insert(seen.end(), data, data + parameter.numel());
  }
  return seen;
}

class Promotion : public ::testing::Test {
 protected:
  void SetUp() override {
    kernels::Backend* const llvm = kernels::find_backend("llvm");
    ASSERT_NE(llvm, nullptr);
    if (const std::string problem = llvm->unavailable(); !problem.empty()) {
      GTEST_SKIP() << "no tier 2: " << problem;
    }
    set_mode(Mode::kEager);
    eager_ = train();
    set_mode(Mode::kAuto);
    tracer::testing::set_hot(1);
    tracer::testing::forget_everything();
  }
  void TearDown() override {
    tier_policy() = {};
    tracer::testing::forget_everything();
  }
  // The launches of all segments, with the tier that each runs on.
  static std::string programs() {
    std::string text;
    for (const SegmentView& segment : inspect()) text += segment.program;
    return text;
  }
  static bool says(const std::string& text) { return programs().find(text) != std::string::npos; }
  std::vector<float> eager_;
};

TEST_F(Promotion, EveryKernelOnTier2GivesTheSameBits) {
  tier_policy() = {.least_share = 0, .most_milliseconds = 1e9, .always_takes_it = true};
  tracer::testing::set_synchronous(true);
  EXPECT_EQ(train(), eager_);
  EXPECT_TRUE(says("[tier 2]")) << programs();
  EXPECT_FALSE(says("[tier 1]")) << programs();
}

TEST_F(Promotion, TheFasterCodeStaysAfterTheTrial) {
  tracer::testing::set_synchronous(true);
  EXPECT_EQ(train(), eager_);
  EXPECT_TRUE(says("x)]")) << programs();
  EXPECT_FALSE(says("[trying")) << programs();
}

// Each of the equal launches takes too little of the time to be worth it, all of them do not.
TEST_F(Promotion, AKernelOfManyLayersCountsAsAWhole) {
  tier_policy() = {.most_milliseconds = 1e9, .always_takes_it = true};
  tracer::testing::set_synchronous(true);
  const Tensor x = groove::randn({16, 24}), weight = groove::randn({24, 24});
  const auto run = [&] {
    float last = 0;
    for (int step = 0; step < 20; ++step) {
      Tensor h = x;
      for (int layer = 0; layer < 60; ++layer) h = groove::softmax(h.matmul(weight), 1);
      last = h[0][0].item<float>();
    }
    return last;
  };
  set_mode(Mode::kEager);
  const float eager = run();
  set_mode(Mode::kAuto);
  EXPECT_EQ(run(), eager);
  EXPECT_TRUE(says("[tier 2]")) << programs();
}

TEST_F(Promotion, HappensInTheBackground) {
  tier_policy().always_takes_it = true;
  tracer::testing::set_synchronous(false);
  set_mode(Mode::kEager);
  // Long enough for tier 2 to pay.
  constexpr int kSteps = 20'000;
  const std::vector<float> eager = train(kSteps);
  set_mode(Mode::kAuto);
  // On a busy machine the loop may be over before its code is there.
  for (int round = 0; round < 5 && !says("[tier 2]"); ++round) {
    EXPECT_EQ(train(kSteps), eager);
    synchronize();
  }
  EXPECT_TRUE(says("[tier 2]")) << programs();
}

}  // namespace
}  // namespace groove::jit
