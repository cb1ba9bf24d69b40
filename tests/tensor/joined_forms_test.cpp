// Functions of several steps that are one operator where they can be: the bits of the steps.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "groove/autograd.h"
#include "groove/groove.h"

namespace groove::testing {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<double> kValues = {-3,         -1,   -0.5,  -0.0,   0.0, 1e-40,
                                     0.3,        0.75, 65504, -2e4,   NAN, kInfinity,
                                     -kInfinity, 1.0,  -0.1,  -1e-45, 2.5, 3e38};

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.scalar_type(), b.scalar_type());
  ASSERT_EQ(a.sizes(), b.sizes());
  const Tensor left = a.to(kDouble).contiguous(), right = b.to(kDouble).contiguous();
  for (std::int64_t i = 0; i < left.numel(); ++i) {
    const double x = left.data_ptr<double>()[i], y = right.data_ptr<double>()[i];
    EXPECT_TRUE(std::memcmp(&x, &y, sizeof x) == 0 || (std::isnan(x) && std::isnan(y)))
        << i << ": " << x << ", " << y;
  }
}

TEST(JoinedForms, ClampIsOneBoundAfterTheOther) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{
             {-0.5, 0.75}, {0.5, -0.5}, {-0.0, 0.0}, {-kInfinity, 1}, {0, kInfinity}, {-1, -1}}) {
      const Tensor x = tensor(kValues, kDouble).to(dtype);
      expect_same(clamp(x, low, high), clamp_max(clamp_min(x, low), high));
      const Tensor across = x.unsqueeze(0).expand({3, x.size(0)}).t();
      expect_same(clamp(across, low, high), clamp_max(clamp_min(across, low), high));
      Tensor written = x.clone();
      written.clamp_(low, high);
      expect_same(written, clamp_max(clamp_min(x, low), high));
      const auto slope = [&](bool is_joined) {
        const Tensor leaf = x.clone().set_requires_grad(true);
        const Tensor y = is_joined ? clamp(leaf, low, high) : clamp_max(clamp_min(leaf, low), high);
        return autograd::grad({y}, {leaf}, {full_like(x, -0.25)})[0];
      };
      expect_same(slope(true), slope(false));
    }
  }
  EXPECT_EQ(clamp(tensor({-7, 3, 9}, kLong), -2, 5)[0].item<std::int64_t>(), -2);
  EXPECT_EQ(clamp(zeros({0, 3}), -1, 1).numel(), 0);
}

TEST(JoinedForms, StepsWithAndWithoutATape) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
    const Tensor x = tensor(kValues, kDouble).to(dtype).reshape({3, 6});
    const Tensor leaf = x.clone().set_requires_grad(true);
    const Tensor slopes = tensor(std::vector<double>{0.5, -2, 0, 1, 0.25, 3}, kDouble).to(dtype);
    for (int call = 0; call < 3; ++call) {
      expect_same(prelu(x, slopes), prelu(leaf, slopes).detach());
      expect_same(prelu(x, slopes), where(gt(x, 0), x, slopes.unsqueeze(0) * x));
      expect_same(nan_to_num(x, 0.5, 3, -4), nan_to_num(leaf, 0.5, 3, -4).detach());
      expect_same(
          nan_to_num(x, 0.5, 3, -4),
          where(isnan(x), 0.5, where(eq(x, kInfinity), 3, where(eq(x, -kInfinity), -4, x))));
    }
    const Tensor gradient = autograd::grad({nan_to_num(leaf)}, {leaf}, {ones_like(x)})[0];
    expect_same(gradient, isfinite(x).to(dtype));
  }
}

}  // namespace
}  // namespace groove::testing
