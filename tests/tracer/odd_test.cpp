// Gradient hooks against values computed by hand, in eager mode: order, what they may replace,
// removal, and how they meet retain_grad() and autograd::grad().
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "groove/jit.h"

namespace groove::testing {
namespace {

double value(const Tensor& tensor) { return tensor.item<double>(); }

class Hooks : public ::testing::Test {
 protected:
  jit::EagerGuard eager_;
};

TEST_F(Hooks, SeeTheWholeGradientOfAResult) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  const Tensor y = x * 2;
  std::vector<double> seen;
  y.register_hook([&](const Tensor& grad) { seen.push_back(value(grad)); });
  (y * 5 + y * y).backward();  // 5 + 2 * 6
  EXPECT_EQ(seen, std::vector<double>{17});
  EXPECT_EQ(value(x.grad()), 34);
}

TEST_F(Hooks, RunInOrderAndReplace) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  const Tensor y = x * 2;
  std::vector<double> seen;
  y.register_hook([](const Tensor& grad) { return grad + 1; });
  y.register_hook([&](const Tensor& grad) { seen.push_back(value(grad)); });
  y.register_hook([](const Tensor& grad) { return grad * 10; });
  y.backward();
  EXPECT_EQ(seen, std::vector<double>{2});
  EXPECT_EQ(value(x.grad()), 40);
}

TEST_F(Hooks, OfALeafSeeEachBackwardBeforeItIsAdded) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  std::vector<double> seen;
  x.register_hook([&](const Tensor& grad) {
    seen.push_back(value(grad));
    return grad * 2;
  });
  (x * 5).backward();
  (x * 7).backward();
  EXPECT_EQ(seen, (std::vector<double>{5, 7}));
  EXPECT_EQ(value(x.grad()), 24);
}

TEST_F(Hooks, AreRemovedByTheirPosition) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  const unsigned first = x.register_hook([](const Tensor& grad) { return grad * 2; });
  const unsigned second = x.register_hook([](const Tensor& grad) { return grad * 3; });
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 1u);
  x.remove_hook(first);
  EXPECT_EQ(x.register_hook([](const Tensor& grad) { return grad * 5; }), 2u);
  (x * 1).backward();
  EXPECT_EQ(value(x.grad()), 15);
  EXPECT_THROW(x.remove_hook(3), Error);
}

TEST_F(Hooks, ComeBeforeRetainedGradientsAndCaptures) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  const Tensor y = x * 2;
  y.retain_grad();
  y.register_hook([](const Tensor& grad) { return grad * 4; });
  (y * 5).backward({}, true);
  EXPECT_EQ(value(y.grad()), 20);
  EXPECT_EQ(value(autograd::grad({y * 5}, {y})[0]), 20);
  x.register_hook([](const Tensor& grad) { return grad * 3; });
  EXPECT_EQ(value(autograd::grad({x * x}, {x})[0]), 18);
}

TEST_F(Hooks, StayWithTheValueThatWasThere) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  Tensor y = x * 2;
  std::vector<double> seen;
  y.register_hook([&](const Tensor& grad) { seen.push_back(value(grad)); });
  y.mul_(10);
  y.backward();
  EXPECT_EQ(seen, std::vector<double>{10});
}

TEST_F(Hooks, OfTheSecondDerivative) {
  const Tensor x = groove::full({}, 3.0, kDouble).requires_grad_();
  const Tensor y = x * x;
  y.register_hook([](const Tensor& grad) { return grad * 2; });
  const Tensor slope = autograd::grad({y * y}, {x}, {}, true, true)[0];  // 2 * 2y * 2x = 8 x^3
  EXPECT_EQ(value(slope), 216);
  slope.backward();
  // The hook also doubles what comes back along y: d(2 * 2y * 2x) = 8y (from x) + 2 * 8x * 2x.
  EXPECT_EQ(value(x.grad()), 8 * 9 + 2 * 8 * 3 * 6);
}

TEST_F(Hooks, MustKeepShapeAndDtype) {
  const Tensor x = groove::full({2}, 3.0, kDouble).requires_grad_();
  x.register_hook([](const Tensor& grad) { return grad.sum(); });
  EXPECT_THROW((x * 2).sum().backward(), Error);
  EXPECT_THROW(groove::ones({2}).register_hook([](const Tensor&) {}), Error);
}

}  // namespace
}  // namespace groove::testing
