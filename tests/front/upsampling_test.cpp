// Interpolation against LibTorch 2.15's values.
#include <gtest/gtest.h>

#include <sstream>

#include "groove/groove.h"

namespace groove::nn {
namespace {

namespace F = functional;

// [1, 1, 3, 4]
Tensor image() { return (arange(12, kFloat).square() / 7).view({1, 1, 3, 4}); }

void expect_near(const Tensor& actual, IntArrayRef sizes, const std::vector<double>& expected) {
  ASSERT_EQ(actual.sizes(), sizes);
  const Tensor flat = actual.flatten();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(flat[static_cast<std::int64_t>(i)].item<double>(), expected[i], 2e-5) << i;
}

F::InterpolateFuncOptions to_5_by_7(interpolation_t mode) {
  return F::InterpolateFuncOptions().size(std::vector<std::int64_t>{5, 7}).mode(mode);
}

TEST(Interpolate, Nearest) {
  const Tensor twice =
      F::interpolate(image(), F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}));
  EXPECT_TRUE(equal(twice, image().repeat_interleave(2, 2).repeat_interleave(2, 3)));
  const Tensor rows = tensor({0, 0, 1, 1, 2}), columns = tensor({0, 0, 1, 1, 2, 2, 3});
  EXPECT_TRUE(equal(F::interpolate(image(), to_5_by_7(kNearest)),
                    image().index_select(2, rows).index_select(3, columns)));
  const Tensor exact_rows = tensor({0, 0, 1, 2, 2}), exact_columns = tensor({0, 0, 1, 2, 2, 3, 3});
  EXPECT_TRUE(equal(F::interpolate(image(), to_5_by_7(kNearestExact)),
                    image().index_select(2, exact_rows).index_select(3, exact_columns)));
  EXPECT_EQ(F::interpolate(image().to(kByte), to_5_by_7(kNearest)).scalar_type(), kByte);
}

TEST(Interpolate, Linear) {
  expect_near(F::interpolate(image(), to_5_by_7(kBilinear)), {1, 1, 5, 7},
              {0.0,      0.05102,   0.132653,  0.357143,  0.622449,  1.030612,  1.285714,
               0.914286, 1.128572,  1.471429,  1.957143,  2.483674,  3.153062,  3.571429,
               2.285714, 2.744898,  3.479592,  4.357143,  5.27551,   6.336735,  7.0,
               6.400001, 7.104083,  8.230614,  9.500001,  10.810206, 12.263268, 13.171431,
               9.142858, 10.010203, 11.397959, 12.928571, 14.5,      16.214287, 17.285715});
  expect_near(F::interpolate(image(), to_5_by_7(kBilinear).align_corners(true)), {1, 1, 5, 7},
              {0.0, 0.071429, 0.142857, 0.357143, 0.571429, 0.928571, 1.285714, 1.142857, 1.5,
               1.857143, 2.357143, 2.857143, 3.5, 4.142857});
  expect_near(
      F::interpolate(
          image(),
          F::InterpolateFuncOptions().scale_factor(std::vector<double>{1.5, 1.5}).mode(kBilinear)),
      {1, 1, 4, 6},
      {0.0, 0.071429, 0.214286, 0.5, 0.928571, 1.285714, 1.142857, 1.5, 2.02381, 2.690476, 3.5,
       4.142857, 3.428572});
  expect_near(
      F::interpolate(
          image(),
          F::InterpolateFuncOptions().size(std::vector<std::int64_t>{2, 2}).mode(kBilinear)),
      {1, 1, 2, 2}, {0.785714, 2.214286, 8.5, 13.357143});
  expect_near(
      F::interpolate(image()[0],
                     F::InterpolateFuncOptions().size(std::vector<std::int64_t>{6}).mode(kLinear)),
      {1, 3, 6}, {0.0, 0.071429, 0.214286, 0.5, 0.928571, 1.285714, 2.285714});
}

TEST(Interpolate, CubicAndArea) {
  expect_near(F::interpolate(image(), to_5_by_7(kBicubic)), {1, 1, 5, 7},
              {-0.222717, -0.227744, -0.20291, -0.080428, 0.181892, 0.550748, 0.797127, 0.34314,
               0.516313, 0.83183, 1.238432, 1.784871, 2.444409, 2.868989});
  expect_near(F::interpolate(image(), to_5_by_7(kBicubic).align_corners(true)), {1, 1, 5, 7},
              {0.0, 0.03125, 0.142857, 0.303571, 0.571429, 0.96875, 1.285714, 0.5, 0.719866});
  expect_near(
      F::interpolate(image(),
                     F::InterpolateFuncOptions().size(std::vector<std::int64_t>{2, 2}).mode(kArea)),
      {1, 1, 2, 2}, {1.5, 3.5, 6.642857, 10.928572});
}

TEST(Interpolate, Gradient) {
  const Tensor x = image().requires_grad_();
  F::interpolate(x, to_5_by_7(kBilinear)).square().sum().backward();
  expect_near(x.grad() / 100, {1, 1, 3, 4},
              {0.02178426, 0.03937493, 0.07542389, 0.10916388, 0.19237432, 0.26922153, 0.37543724,
               0.44983212, 0.46650032, 0.59162216, 0.74440109, 0.83682365});
}

TEST(Interpolate, UpsampleAndTheOperators) {
  Upsample upsample(UpsampleOptions()
                        .scale_factor(std::vector<double>{2, 2})
                        .mode(kBilinear)
                        .align_corners(true));
  EXPECT_TRUE(equal(upsample(image()), upsample_bilinear2d(image(), {6, 8}, true)));
  std::ostringstream text;
  text << *upsample;
  EXPECT_EQ(text.str(), "torch::nn::Upsample(scale_factor=[2, 2], mode=kBilinear)");
  EXPECT_TRUE(equal(upsample_nearest2d(image(), {3, 4}), image()));
}

TEST(Interpolate, BadCalls) {
  EXPECT_THROW(F::interpolate(image()), Error);
  EXPECT_THROW(F::interpolate(image(), to_5_by_7(kLinear)), Error);
  EXPECT_THROW(F::interpolate(image(), to_5_by_7(kNearest).align_corners(true)), Error);
  EXPECT_THROW(F::interpolate(image().to(kLong), to_5_by_7(kBilinear)), Error);
  EXPECT_THROW(
      F::interpolate(image(), F::InterpolateFuncOptions().size(std::vector<std::int64_t>{5})),
      Error);
  EXPECT_THROW(upsample_nearest2d(image(), {0, 4}), Error);
}

// The same bits from a compiled loop.
TEST(Interpolate, InALoop) {
  std::vector<float> losses[2];
  for (const bool compiles : {false, true}) {
    manual_seed(3);
    const Tensor weight = randn({1, 1, 3, 4}).requires_grad_();
    jit::set_mode(compiles ? jit::Mode::kAuto : jit::Mode::kEager);
    for (int i = 0; i < 60; ++i) {
      const Tensor loss = F::interpolate(weight, to_5_by_7(kBilinear)).square().sum();
      const Tensor grad = autograd::grad({loss}, {weight})[0];
      NoGradGuard no_grad;
      weight.sub_(grad, 0.01);
      losses[compiles].push_back(loss.item<float>());
    }
  }
  jit::set_mode(jit::Mode::kAuto);
  EXPECT_EQ(losses[0], losses[1]);
}

}  // namespace
}  // namespace groove::nn
