// jit::inspect(): what it shows is what there is. Graphs and kernels are read back by their parsers,
// and looking changes nothing.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include "kernels/backend.h"
#include "src/core/graph.h"
#include "tracer/tell/testing.h"

namespace groove::tracer {
namespace {

namespace tt = tracer::testing;

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override { tt::forget_everything(); }
};

// A layer and its step by hand; gives the last loss.
float train(int steps, Tensor& weight, bool looks) {
  manual_seed(1);
  const auto x = randn({8, 6}), y = randn({8, 16});
  float last = 0;
  for (int step = 0; step < steps; ++step) {
    auto loss = (relu(x.mm(weight)) - y).square().mean();
    loss.backward();
    {
      NoGradGuard no_grad;
      weight -= weight.grad() * 0.1;
    }
    weight.grad().zero_();
    last = loss.item<float>();
    if (looks && step == steps / 2) jit::inspect();
  }
  return last;
}

TEST_F(Inspect, TextsAreReadBack) {
  auto weight = ones({6, 16}).requires_grad_();
  train(20, weight, false);
  const auto segments = jit::inspect();
  ASSERT_FALSE(segments.empty()) << jit::explain();
  const jit::SegmentView& segment = segments.back();
  EXPECT_EQ(segment.state, "armed");
  ASSERT_GE(segment.calls.size(), 6u);
  EXPECT_EQ(segment.calls[0].file, __FILE__);
  EXPECT_EQ(segment.calls[0].call.rfind("mm0 = mm(input", 0), 0u) << segment.calls[0].call;
  EXPECT_NE(segment.guards.find(": f32[6, 16], contiguous, requires grad"), std::string::npos)
      << segment.guards;

  const Graph recorded = parse_graph(segment.graph);
  EXPECT_EQ(verify(recorded), "");
  ASSERT_FALSE(segment.passes.empty());
  for (const jit::PassView& pass : segment.passes) {
    const Graph graph = parse_graph(pass.graph);
    EXPECT_EQ(verify(graph), "") << pass.name;
    EXPECT_EQ(graph.nodes.size(), pass.operators) << pass.name;
  }
  ASSERT_FALSE(segment.launches.empty());
  const bool has_code = std::string(kernels::current_backend().name()) == "asmjit";
  for (const jit::LaunchView& launch : segment.launches) {
    EXPECT_EQ(kernels::print(kernels::parse_kernel(launch.kernel)), launch.kernel);
    if (has_code) {
      EXPECT_NE(launch.assembly.find("\nret\n"), std::string::npos) << launch.operators;
    }
  }
}

TEST_F(Inspect, LookingChangesNothing) {
  auto first = ones({6, 16}).requires_grad_(), second = ones({6, 16}).requires_grad_();
  const float quiet = train(40, first, false);
  tt::forget_everything();
  const float looked = train(40, second, true);
  EXPECT_EQ(quiet, looked);
  EXPECT_TRUE(equal(first, second));
  EXPECT_EQ(jit::summary().leaves, 0u) << jit::explain();
}

}  // namespace
}  // namespace groove::tracer
