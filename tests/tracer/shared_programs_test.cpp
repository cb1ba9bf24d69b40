// Equal graphs are one program, whoever recorded them; others are not.
#include <gtest/gtest.h>

#include <set>

#include "groove/groove.h"
#include "groove/jit.h"
#include "groove/jit/pass.h"
#include "tracer/cache/compiler.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/testing.h"

namespace groove::tracer {
namespace {

namespace tt = testing;

class SharedPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(2);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override { tt::forget_everything(); }
};

std::shared_ptr<Executable> compiled(const char* text) {
  return registered_compiler()->compile(parse_graph(text));
}

constexpr const char* kGraph =
    "graph(x: f32[4, 8]) { a = tanh(x); b = mul_scalar(a) <number: 2.0>; return b }";

TEST_F(SharedPrograms, EqualGraphsAreOneProgram) {
  const auto first = compiled(kGraph);
  EXPECT_EQ(compiled(kGraph), first);
  for (const char* const other : {
           "graph(x: f32[4, 9]) { a = tanh(x); b = mul_scalar(a) <number: 2.0>; return b }",
           "graph(x: f64[4, 8]) { a = tanh(x); b = mul_scalar(a) <number: 2.0>; return b }",
           "graph(x: f32[4, 8]) { a = exp(x); b = mul_scalar(a) <number: 2.0>; return b }",
           "graph(x: f32[4, 8]) { a = tanh(x); b = mul_scalar(a) <number: 3.0>; return b }",
           "graph(x: f32[4, 8]) { a = tanh(x); b = mul_scalar(x) <number: 2.0>; return b }",
           "graph(x: f32[4, 8]) { a = tanh(x); b = mul_scalar(a) <number: 2.0>; return a, b }",
       })
    EXPECT_NE(compiled(other), first) << other;
}

TEST_F(SharedPrograms, WhatIsNotInUseIsKeptForAWhile) {
  std::weak_ptr<Executable> first = compiled(kGraph);
  EXPECT_FALSE(first.expired());
  for (int i = 0; i < 64; ++i)
    compiled(("graph(x: f32[" + std::to_string(10 + i) + "]) { a = tanh(x); return a }").c_str());
  EXPECT_TRUE(first.expired()) << "but not for ever";
}

TEST_F(SharedPrograms, OtherPassesMakeOtherPrograms) {
  const auto first = compiled(kGraph);
  jit::register_pass(
      "nothing", [](jit::Graph&) {}, jit::PassPlace::kRecorded);
  const auto second = compiled(kGraph);
  EXPECT_NE(second, first);
  EXPECT_TRUE(jit::unregister_pass("nothing"));
  EXPECT_NE(compiled(kGraph), second);
}

// Models of one structure, one after the other: one loop on other tensors, with eager mode's bits.
double train(double rate, int steps) {
  manual_seed(7);
  nn::Sequential net(nn::Linear(3, 8), nn::Tanh(), nn::Linear(8, 1));
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(rate).momentum(0.5));
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const auto x = groove::rand({4, 3});
    optimizer.zero_grad();
    const auto loss = groove::mse_loss(net->forward(x), x.sum(1, true));
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  return sum;
}

TEST_F(SharedPrograms, AnotherModelOfTheSameStructureRunsTheSameSegment) {
  constexpr int kSteps = 12, kModels = 4;
  jit::set_mode(jit::Mode::kEager);
  const double expected = train(0.01, kSteps);
  jit::set_mode(jit::Mode::kAuto);
  std::set<std::uint64_t> ids;
  std::uint64_t hits = 0;
  for (int model = 0; model < kModels; ++model) {
    EXPECT_EQ(train(0.01, kSteps), expected);
    for (const SegmentPtr& segment : all_segments()) {
      // The first step of a model, which makes state, may have one of its own by now.
      if (segment->statistics.hits <= kModels) continue;
      ids.insert(segment->id);
      hits = segment->statistics.hits;
    }
  }
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_GE(hits, (kSteps - 1) * (kModels - 1)) << "all but the first step, which makes state";
}

}  // namespace
}  // namespace groove::tracer
