// In-place ops and views on the tape.
#include <gtest/gtest.h>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/tensor_impl.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
Tensor row(std::initializer_list<double> values) {
  std::vector<double> list(values);
  return tensor(list, TensorOptions(kDouble));
}
std::vector<double> list(const Tensor& t) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < t.numel(); ++i)
    values.push_back(t.contiguous().view({-1})[i].item<double>());
  return values;
}
using Values = std::vector<double>;

TEST(Inplace, LeafIsAnError) {
  const Tensor x = row({1, 2}).requires_grad_();
  EXPECT_TRUE(contains(error_of([&] { x.add_(1); }), "leaf Variable"));
  EXPECT_TRUE(contains(error_of([&] { x[0].mul_(2); }), "view of a leaf Variable"));
  EXPECT_EQ(list(x), (Values{1, 2}));
  const NoGradGuard guard;
  x.add_(1);
  EXPECT_EQ(list(x), (Values{2, 3}));
}

TEST(Inplace, RebasesHistory) {
  const Tensor x = row({1, 2}).requires_grad_();
  Tensor y = x * 3;
  y.add_(x).mul_(2);
  y.sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{8, 8}));
}

TEST(Inplace, NoHistoryBecomesHistory) {
  const Tensor x = row({1, 2}).requires_grad_();
  Tensor y = zeros({2}, kDouble);
  y.add_(x * x);
  EXPECT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{2, 4}));
}

TEST(Inplace, StaleSavedTensorIsAnError) {
  const Tensor x = row({1, 2}).requires_grad_();
  Tensor y = x * 2;
  const Tensor z = y * y;
  y.add_(1);
  const std::string message = error_of([&] { z.sum().backward(); });
  EXPECT_TRUE(contains(message, "modified by an inplace operation")) << message;
  EXPECT_TRUE(contains(message, "mul")) << message;
  EXPECT_TRUE(contains(message, "version 1; expected version 0")) << message;
}

TEST(Inplace, StaleOutputIsAnErrorEvenThroughADetachedAlias) {
  const Tensor x = row({1, 2}).requires_grad_();
  const Tensor y = exp(x);
  y.detach().zero_();
  EXPECT_TRUE(contains(error_of([&] { y.sum().backward(); }), "exp"));
}

TEST(Inplace, OwnWriteDoesNotStaleItsOwnSavedInput) {
  const Tensor x = row({2, 3}).requires_grad_();
  const Tensor w = row({5, 7}).requires_grad_();
  Tensor y = x * 1;
  y.mul_(w);
  y.sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{5, 7}));
  EXPECT_EQ(list(w.grad()), (Values{2, 3}));
}

TEST(Inplace, FillStopsTheGradient) {
  const Tensor x = row({1, 2}).requires_grad_();
  Tensor y = x * 2;
  y.zero_();
  (y + x).sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{1, 1}));
}

TEST(Views, GradientGoesToItsPlace) {
  const Tensor x = rand({3, 4}, kDouble).requires_grad_();
  (x.narrow(1, 1, 2).t().reshape({6}) * row({1, 2, 3, 4, 5, 6})).sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{0, 1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0}));
}

TEST(Views, ExpandSumsAndSelectOfExpand) {
  const Tensor x = row({1, 2}).requires_grad_();
  x.unsqueeze(0).expand({3, 2}).select(0, 1).sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{1, 1}));
}

TEST(Views, WriteThroughAView) {
  const Tensor x = row({1, 2, 3}).requires_grad_();
  Tensor y = x * 2;
  y[1].mul_(10);
  EXPECT_EQ(list(y), (Values{2, 40, 6}));
  y.sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{2, 20, 2}));
}

TEST(Views, RowsWrittenIntoABuffer) {
  const Tensor x = row({1, 2}).requires_grad_();
  const Tensor out = zeros({3, 2}, kDouble);
  for (int i = 0; i < 3; ++i) out[i].copy_(x * (i + 1));
  EXPECT_TRUE(out.requires_grad());
  EXPECT_FALSE(out.is_leaf());
  (out * out).sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{28, 56}));
}

TEST(Views, OlderViewSeesTheWrite) {
  const Tensor x = row({1, 2, 3}).requires_grad_();
  Tensor y = x * 1;
  const Tensor tail = y.narrow(0, 1, 2);
  y.mul_(5);
  tail.sum().backward();
  EXPECT_EQ(list(x.grad()), (Values{0, 5, 5}));
}

TEST(Views, ViewWrittenWhileItsBaseHasNoHistory) {
  const Tensor w = row({4}).requires_grad_();
  Tensor base = ones({3}, kDouble);
  Tensor view = base.narrow(0, 0, 2), other = base.view({3, 1});
  view.mul_(w);
  EXPECT_TRUE(view.requires_grad());
  EXPECT_TRUE(other.requires_grad());
  (other.sum() + view.sum()).backward();
  EXPECT_EQ(list(w.grad()), (Values{4}));
}

TEST(Views, SecondDerivativeThroughAWrite) {
  const Tensor x = row({2, 3}).requires_grad_();
  Tensor y = x * 1;
  y[0].mul_(x[1]);
  const Tensor first = autograd::grad({(y * y).sum()}, {x}, {}, std::nullopt, true)[0];
  // f = (x0 x1)^2 + x1^2
  EXPECT_EQ(list(first), (Values{2 * 2 * 9, 2 * 3 * 4 + 2 * 3}));
  const Tensor second = autograd::grad({first[0]}, {x})[0];
  EXPECT_EQ(list(second), (Values{18, 24}));
}

TEST(Views, ViewsUnderNoGradAreFree) {
  const Tensor x = row({1, 2}).requires_grad_();
  const NoGradGuard guard;
  x[0] += 5;
  EXPECT_EQ(list(x), (Values{6, 2}));
}

TEST(Memory, TheTapeIsFreedWithItsResult) {
  const Tensor x = row({1, 2}).requires_grad_();
  const Tensor y = x * 1;
  {
    const Tensor z = (exp(y) * y).sum();
    EXPECT_GT(y.use_count(), 1);
    EXPECT_EQ(y.impl()->tape_references, 1);
  }
  EXPECT_EQ(y.use_count(), 1);
  EXPECT_EQ(y.impl()->tape_references, 0);
  EXPECT_EQ(x.impl()->tape_references, 0);
}

TEST(Memory, SavedOutputDoesNotHoldItself) {
  const Tensor x = row({1, 2}).requires_grad_();
  const StoragePtr storage = [&] {
    const Tensor y = exp(x);
    return y.impl()->storage;
  }();
  EXPECT_EQ(storage->use_count(), 1);
}

}  // namespace
}  // namespace groove
