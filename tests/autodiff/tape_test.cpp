// Gradients as users ask for them: values, accumulation, errors, second derivatives.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/autograd_meta.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

Tensor leaf(double value) { return tensor(value, TensorOptions(kDouble)).requires_grad_(); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Tape, SeedExample) {
  const Tensor x1 = leaf(2), x2 = leaf(5);
  const Tensor f = log(x1) + x1 * x2 - sin(x2);
  EXPECT_NEAR(f.item<double>(), 11.652, 5e-4);
  f.backward();
  EXPECT_NEAR(x1.grad().item<double>(), 5.5, 1e-12);
  EXPECT_NEAR(x2.grad().item<double>(), 2 - std::cos(5.0), 1e-12);
}

TEST(Tape, FiniteDifferences) {
  const Tensor x = rand({3, 4}, kDouble).add(0.5);
  const auto f = [](const Tensor& x) {
    const Tensor h = tanh(matmul(x, x.t())) * 0.5 + exp(x.sum({1}, true) * -0.1);
    return (log_softmax(h, 1) * h).mean() + (x[1] / x.narrow(0, 0, 1)).sum();
  };
  const Tensor v = x.clone().requires_grad_();
  f(v).backward();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const Tensor up = x.clone(), down = x.clone();
      up[i][j] += 1e-6;
      down[i][j] -= 1e-6;
      const double slope = (f(up).item<double>() - f(down).item<double>()) / 2e-6;
      EXPECT_NEAR(v.grad()[i][j].item<double>(), slope, 1e-7);
    }
}

TEST(Tape, GradientsAccumulate) {
  const Tensor x = leaf(3);
  (x * x).backward();
  (x * 2).backward();
  EXPECT_EQ(x.grad().item<double>(), 8);
  x.mutable_grad() = Tensor();
  (x + x).backward();
  EXPECT_EQ(x.grad().item<double>(), 2);
}

TEST(Tape, OneGradientIsNotSharedByTwoLeaves) {
  const Tensor a = leaf(1), b = leaf(2);
  (a + b).backward();
  a.mutable_grad().add_(1);
  EXPECT_EQ(b.grad().item<double>(), 1);
  EXPECT_EQ(a.grad().item<double>(), 2);
}

TEST(Tape, SecondBackwardNeedsRetainGraph) {
  const Tensor x = leaf(3);
  const Tensor y = x * x;
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 12);
  EXPECT_TRUE(contains(error_of([&] { y.backward(); }), "a second time"));
}

// The gradient of a result does not run the node that made it, used up or not; as in LibTorch.
TEST(Tape, AGradientUpToAUsedUpNode) {
  const Tensor x = leaf(3);
  const Tensor square = x * x;
  const Tensor y = square * 2;
  y.backward();
  EXPECT_EQ(autograd::grad({y}, {square}, {}, true)[0].item<double>(), 2);
  EXPECT_EQ(autograd::grad({square}, {square}, {}, true)[0].item<double>(), 1);
  EXPECT_TRUE(contains(error_of([&] { autograd::grad({y}, {x}); }), "a second time"));
  EXPECT_EQ(x.grad().item<double>(), 12);
}

TEST(Tape, NonScalarNeedsAGradient) {
  const Tensor x = ones({3}, kDouble).requires_grad_();
  const Tensor y = x * 2;
  EXPECT_TRUE(contains(error_of([&] { y.backward(); }), "scalar outputs"));
  EXPECT_TRUE(contains(error_of([&] { y.backward(ones({2}, kDouble)); }), "[2]"));
  EXPECT_TRUE(contains(error_of([] { ones({}).backward(); }), "does not require grad"));
  y.backward(tensor({1., 2., 3.}, TensorOptions(kDouble)));
  EXPECT_EQ(x.grad()[2].item<double>(), 6);
}

TEST(Tape, SecondDerivative) {
  const Tensor x = leaf(0.7);
  const Tensor y = tanh(x) * x * x;  // tanh saves its output
  const Tensor first = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  EXPECT_TRUE(first.requires_grad());
  const Tensor second = autograd::grad({first}, {x})[0];
  const double t = std::tanh(0.7), s = 1 - t * t;
  EXPECT_NEAR(first.item<double>(), s * 0.49 + 2 * 0.7 * t, 1e-12);
  EXPECT_NEAR(second.item<double>(), -2 * t * s * 0.49 + 4 * 0.7 * s + 2 * t, 1e-12);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Tape, SecondDerivativeOfADeadOutput) {
  const Tensor x = leaf(0.3);
  const Tensor y = exp(exp(x)).sum();  // both outputs of exp are only known to the tape
  const Tensor first = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  const Tensor second = autograd::grad({first}, {x})[0];
  const double e = std::exp(0.3);
  EXPECT_NEAR(second.item<double>(), std::exp(e) * (e + e * e), 1e-9);
}

TEST(Tape, GradOfUnusedInput) {
  const Tensor x = leaf(1), z = leaf(2);
  EXPECT_TRUE(contains(error_of([&] { autograd::grad({x * 2}, {z}); }), "not have been used"));
  EXPECT_FALSE(autograd::grad({x * 2}, {z}, {}, std::nullopt, false, true)[0].defined());
}

TEST(Tape, GradOfIntermediateAndRetainGrad) {
  const Tensor x = leaf(2);
  const Tensor y = x * 3;
  y.retain_grad();
  const Tensor z = y * y;
  EXPECT_EQ(autograd::grad({z}, {y}, {}, true)[0].item<double>(), 12);
  z.backward();
  EXPECT_EQ(y.grad().item<double>(), 24);  // kept by both, as in LibTorch
  EXPECT_EQ(x.grad().item<double>(), 36);
}

TEST(Tape, BackwardWithInputsLeavesOthersAlone) {
  const Tensor a = leaf(2), b = leaf(3);
  autograd::backward({a * b}, {}, std::nullopt, false, {a});
  EXPECT_EQ(a.grad().item<double>(), 3);
  EXPECT_FALSE(b.grad().defined());
}

TEST(Tape, Modes) {
  const Tensor x = leaf(2);
  {
    const NoGradGuard guard;
    EXPECT_FALSE((x * x).requires_grad());
    const AutoGradMode on(true);
    EXPECT_TRUE((x * x).requires_grad());
  }
  EXPECT_TRUE(GradMode::is_enabled());
  {
    const InferenceMode guard;
    EXPECT_FALSE((x * x).requires_grad());
  }
  const Tensor d = (x * x).detach();
  EXPECT_FALSE(d.requires_grad());
  EXPECT_TRUE(d.is_leaf());
  EXPECT_FALSE(eq(x, 2).requires_grad());
  EXPECT_FALSE((x * x).is_leaf());
  EXPECT_EQ((x * x).grad_fn()->name(), "MulBackward0");
}

TEST(Tape, RequiresGradRules) {
  EXPECT_TRUE(contains(error_of([] { ones({2}, kLong).requires_grad_(); }), "floating"));
  const Tensor y = leaf(1) * 2;
  EXPECT_TRUE(contains(error_of([&] { y.requires_grad_(false); }), "leaf"));
}

TEST(Tape, PromotedAndBroadcastOperands) {
  const Tensor a = ones({2, 3}, kFloat).requires_grad_(), b = ones({3}, kDouble).requires_grad_();
  (a * b).sum().backward();
  EXPECT_EQ(a.grad().scalar_type(), kFloat);
  EXPECT_EQ(b.grad().sizes(), IntArrayRef({3}));
  EXPECT_EQ(b.grad()[0].item<double>(), 2);
}

TEST(Tape, DeepChainOnASmallStack) {
  // A graph as long as this must be built, run and freed without recursion.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  const auto body = [](void*) -> void* {
    const Tensor x = leaf(1);
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) y = y + x;
    y.backward({}, true);
    EXPECT_EQ(x.grad().item<double>(), 1000001);
    y.reset();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// Each turn begins without a gradient, and in all but the first the loop is compiled already.
TEST(Tape, Threads) {
  for (int turn = 0; turn < 60; ++turn) {
    const Tensor w = ones({8}, kDouble).requires_grad_();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) (tanh(w * 2).sum() * 0 + w.sum()).backward();
      });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(w.grad()[3].item<double>(), 800) << "in turn " << turn;
  }
}

}  // namespace
}  // namespace groove
