// What an operator that runs in place may read, and what other rules say of single calls: as
// LibTorch 2.15 answered.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "groove/groove.h"
#include "tests/core/error_of.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool meets(const std::function<void()>& call) {
  return error_of(call).find("refer to a single memory location") != std::string::npos;
}
Tensor floats(IntArrayRef sizes) { return counting(sizes).to(kFloat); }

TEST(Overlap, OfShiftedPartsIsAnErrorBeforeAnythingChanges) {
  const Tensor x = floats({6});
  EXPECT_TRUE(meets([&] { x.slice(0, 1, 6).copy_(x.slice(0, 0, 5)); }));
  EXPECT_TRUE(meets([&] { x.slice(0, 1, 6).add_(x.slice(0, 0, 5)); }));
  EXPECT_TRUE(meets([&] { x.index_put_({indexing::Slice(1)}, x.slice(0, 0, 5)); }));
  EXPECT_TRUE(meets([&] { x.slice(0, 0, 3).addcmul_(x.slice(0, 1, 4), ones({3})); }));
  EXPECT_TRUE(meets([&] { x.div_(x[3]); }));
  EXPECT_EQ(values(x), (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(x._version(), 0);
}

TEST(Overlap, OfTheSameMemoryInAnotherOrderIsAnError) {
  const Tensor x = floats({2, 2});
  EXPECT_TRUE(meets([&] { x.copy_(x.t()); }));
  EXPECT_TRUE(meets([&] { x.add_(x.t()); }));
  EXPECT_TRUE(meets([&] { x.add_(x[0]); }));
  EXPECT_TRUE(meets([&] { x.view({1, 4}).add_(x.view({4})); }));
  EXPECT_EQ(values(x), (Ints{0, 1, 2, 3}));
}

TEST(Overlap, OfEqualOrSeparatePartsIsNone) {
  const Tensor x = floats({4});
  x.add_(x);
  EXPECT_EQ(values(x), (Ints{0, 2, 4, 6}));
  x.view({2, 2}).mul_(x.view({2, 2}));
  EXPECT_EQ(values(x), (Ints{0, 4, 16, 36}));
  x.slice(0, 0, 2).add_(x.slice(0, 2, 4));
  EXPECT_EQ(values(x), (Ints{16, 40, 16, 36}));
  x.view({2, 2}).select(1, 0).add_(x.view({2, 2}).select(1, 1));
  EXPECT_EQ(values(x), (Ints{56, 40, 52, 36}));
  x.slice(0, 0, 0).add_(x.slice(0, 2, 2));
  x.slice(0, 0, 4, 2).copy_(x.slice(0, 1, 4, 2));  // with gaps: each element before any is written
  EXPECT_EQ(values(x), (Ints{40, 40, 36, 36}));
}

std::vector<double> clamped(const std::function<Tensor(const Tensor&)>& clamp) {
  const Tensor y = clamp(tensor({-2.0f, 0.5f, 3.0f, kNan}));
  std::vector<double> list;
  for (std::int64_t i = 0; i < 4; ++i) list.push_back(y[i].item<double>());
  return list;
}
bool are_nan(const std::vector<double>& list) {
  for (const double x : list)
    if (!std::isnan(x)) return false;
  return true;
}

TEST(Clamp, ByNanGivesNan) {
  EXPECT_TRUE(are_nan(clamped([](const Tensor& x) { return x.clamp(kNan, 1); })));
  EXPECT_TRUE(are_nan(clamped([](const Tensor& x) { return x.clamp(0, kNan); })));
  EXPECT_TRUE(are_nan(clamped([](const Tensor& x) { return x.clamp_min(kNan); })));
  EXPECT_TRUE(are_nan(clamped([](const Tensor& x) { return x.clamp_max(kNan); })));
  const std::vector<double> kept = clamped([](const Tensor& x) { return x.clamp(0, 1); });
  EXPECT_EQ(kept[0], 0);
  EXPECT_EQ(kept[1], 0.5);
  EXPECT_EQ(kept[2], 1);
  EXPECT_TRUE(std::isnan(kept[3]));
  EXPECT_TRUE(std::signbit(tensor({-0.0f}).clamp_min(0).item<float>()));
}

TEST(Clamp, GivesNoGradientToNan) {
  const auto gradient = [](double low, double high) {
    const Tensor x = tensor({-2.0f, 0.5f, 3.0f, kNan}).requires_grad_();
    x.clamp(low, high).sum().backward();
    return values(x.grad());
  };
  EXPECT_EQ(gradient(0, 1), (Ints{0, 1, 0, 0}));
  EXPECT_EQ(gradient(kNan, 1), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(gradient(0, kNan), (Ints{0, 0, 0, 0}));
}

TEST(ClassTargets, AreLongOrByte) {
  const Tensor rows = log_softmax(floats({2, 3}), 1);
  const double expected = nll_loss(rows, ones({2}, kLong)).item<double>();
  EXPECT_EQ(nll_loss(rows, ones({2}, kByte)).item<double>(), expected);
  EXPECT_EQ(nn::functional::cross_entropy(rows, ones({2}, kByte)).item<double>(),
            nn::functional::cross_entropy(rows, ones({2}, kLong)).item<double>());
  for (const ScalarType other : {kInt, kShort, kChar, kBool}) {
    EXPECT_NE(error_of([&] { nll_loss(rows, ones({2}, other)); }).find("must be Long"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                nn::functional::cross_entropy(rows, ones({2}, other));
              }).find("must be Long"),
              std::string::npos);
  }
}

TEST(Warnings, NameTheLineOfALossThatBroadcastsOnce) {
  struct Seen {
    std::vector<std::string> texts;
    std::vector<std::uint32_t> lines;
  } seen;
  const WarningHandler before =
      set_warning_handler([&seen](const std::string& text, const Site& site) {
        seen.texts.push_back(text);
        seen.lines.push_back(site.line());
      });
  namespace F = nn::functional;
  const Tensor column = ones({4, 1}), row = ones({4});
  std::uint32_t line = 0;
  for (int i = 0; i < 3; ++i) {
    line = __LINE__ + 1;
    F::mse_loss(column, row);
  }
  F::mse_loss(column, column);
  nn::MSELoss()(column, row);
  set_warning_handler(before);
  ASSERT_EQ(seen.texts.size(), 2u);
  EXPECT_EQ(seen.lines[0], line);
  EXPECT_EQ(seen.lines[1], line + 3);
  EXPECT_EQ(seen.texts[0],
            "mse_loss: the target has shape [4], the input [4, 1]: both are broadcast to [4, 4], "
            "which most likely is not meant; give them one shape with view() or squeeze()");
}

TEST(Conversions, TakeNoOptionsThatRequireAGradient) {
  const Tensor x = ones({2});
  EXPECT_THROW(x.to(TensorOptions().requires_grad(true)), Error);
  EXPECT_THROW(x.to(dtype(kDouble).requires_grad(true)), Error);
  EXPECT_EQ(x.to(dtype(kDouble).requires_grad(false)).scalar_type(), kDouble);
}

}  // namespace
}  // namespace groove
