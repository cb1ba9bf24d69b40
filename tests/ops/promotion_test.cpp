// Spot checks of result dtypes against LibTorch's, and of error texts.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"

namespace groove {
namespace {

TEST(Promotion, FollowsLibTorch) {
  const Tensor f = ones({2}, kFloat), d = ones({2}, kDouble), l = ones({2}, kLong),
               i = ones({2}, kInt), u = ones({2}, kByte), b = ones({2}, kBool);
  const Tensor d0 = ones({}, kDouble), l0 = ones({}, kLong);
  EXPECT_EQ((f + d).scalar_type(), kDouble);
  EXPECT_EQ((f + d0).scalar_type(), kFloat);
  EXPECT_EQ((l + d0).scalar_type(), kDouble);
  EXPECT_EQ((i + l).scalar_type(), kLong);
  EXPECT_EQ((i + l0).scalar_type(), kInt);
  EXPECT_EQ((u + i).scalar_type(), kInt);
  EXPECT_EQ((b + u).scalar_type(), kByte);
  EXPECT_EQ((b + b).scalar_type(), kBool);
  EXPECT_EQ((b + 1).scalar_type(), kLong);
  EXPECT_EQ((i + 1.5).scalar_type(), kFloat);
  EXPECT_EQ((f + 1.5).scalar_type(), kFloat);
  EXPECT_EQ((d * 2).scalar_type(), kDouble);
  EXPECT_EQ((l / l).scalar_type(), kFloat);
  EXPECT_EQ((i / 2).scalar_type(), kFloat);
  EXPECT_EQ(exp(l).scalar_type(), kFloat);
  EXPECT_EQ((f == d).scalar_type(), kBool);
  EXPECT_EQ(i.sum().scalar_type(), kLong);
  EXPECT_EQ(b.sum().scalar_type(), kLong);
  EXPECT_EQ(f.sum().scalar_type(), kFloat);
  EXPECT_EQ(i.sum(kDouble).scalar_type(), kDouble);
  EXPECT_EQ(where(b, f, d).scalar_type(), kDouble);
  EXPECT_EQ(argmax(f).scalar_type(), kLong);
  EXPECT_EQ(cat({i, f}).scalar_type(), kFloat);
}

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};
constexpr int kCount = 10;

// As LibTorch 2.15 answered, once. Rows and columns in the order above.
const char* const kBothDimensioned[kCount] = {"u8 i16 i16 i32 i64 f16 f32 f64 u8 bf16",
                                              "i16 i8 i16 i32 i64 f16 f32 f64 i8 bf16",
                                              "i16 i16 i16 i32 i64 f16 f32 f64 i16 bf16",
                                              "i32 i32 i32 i32 i64 f16 f32 f64 i32 bf16",
                                              "i64 i64 i64 i64 i64 f16 f32 f64 i64 bf16",
                                              "f16 f16 f16 f16 f16 f16 f32 f64 f16 f32",
                                              "f32 f32 f32 f32 f32 f32 f32 f64 f32 f32",
                                              "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
                                              "u8 i8 i16 i32 i64 f16 f32 f64 bool bf16",
                                              "bf16 bf16 bf16 bf16 bf16 f32 f32 f64 bf16 bf16"};
const char* const kWithZeroDim[kCount] = {"u8 u8 u8 u8 u8 f16 f32 f64 u8 bf16",
                                          "i8 i8 i8 i8 i8 f16 f32 f64 i8 bf16",
                                          "i16 i16 i16 i16 i16 f16 f32 f64 i16 bf16",
                                          "i32 i32 i32 i32 i32 f16 f32 f64 i32 bf16",
                                          "i64 i64 i64 i64 i64 f16 f32 f64 i64 bf16",
                                          "f16 f16 f16 f16 f16 f16 f16 f16 f16 f16",
                                          "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32",
                                          "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
                                          "u8 i8 i16 i32 i64 f16 f32 f64 bool bf16",
                                          "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16"};
// with true, 1 and 1.5: the same for a tensor with dimensions and without
const char* const kWithNumber[kCount] = {
    "u8 u8 f32",    "i8 i8 f32",    "i16 i16 f32",  "i32 i32 f32",   "i64 i64 f32",
    "f16 f16 f16",  "f32 f32 f32",  "f64 f64 f64",  "bool i64 f32",  "bf16 bf16 bf16"};

TEST(Promotion, WholeTableOfLibTorch) {
  for (int row = 0; row < kCount; ++row) {
    std::istringstream both(kBothDimensioned[row]), mixed(kWithZeroDim[row]),
        number(kWithNumber[row]);
    const auto next = [](std::istringstream& in) {
      std::string word;
      in >> word;
      return word;
    };
    const Tensor a = ones({2}, kAll[row]), a0 = ones({}, kAll[row]);
    for (const ScalarType other : kAll) {
      SCOPED_TRACE(std::string(name(kAll[row])) + " with " + name(other));
      const std::string expected = next(both);
      EXPECT_EQ(short_name((a * ones({2}, other)).scalar_type()), expected);
      EXPECT_EQ(short_name((a0 * ones({}, other)).scalar_type()), expected);
      EXPECT_EQ(short_name(where(ones({2}, kBool), a, ones({2}, other)).scalar_type()), expected);
      EXPECT_EQ(short_name(promote_types(kAll[row], other)), expected);
      EXPECT_EQ(short_name((a * ones({}, other)).scalar_type()), next(mixed));
    }
    for (const Scalar value : {Scalar(true), Scalar(1), Scalar(1.5)}) {
      const std::string expected = next(number);
      EXPECT_EQ(short_name((a * value).scalar_type()), expected) << name(kAll[row]);
      EXPECT_EQ(short_name((a0 * value).scalar_type()), expected) << name(kAll[row]);
    }
  }
}

TEST(Promotion, ResultsOfFamilies) {
  for (const ScalarType dtype : kAll) {
    SCOPED_TRACE(name(dtype));
    const Tensor x = ones({2, 2}, dtype);
    const ScalarType floating = is_floating(dtype) ? dtype : kFloat;
    EXPECT_EQ(exp(x).scalar_type(), floating);
    EXPECT_EQ((x / x).scalar_type(), floating);
    EXPECT_EQ((x / 2).scalar_type(), floating);
    EXPECT_EQ(x.sum().scalar_type(), is_floating(dtype) ? dtype : kLong);
    EXPECT_EQ(x.amax(0).scalar_type(), dtype);
    EXPECT_EQ((x < x).scalar_type(), kBool);
    EXPECT_EQ(x.pow(2).scalar_type(), dtype == kBool ? kLong : dtype);
    EXPECT_EQ(x.pow(0.5).scalar_type(), floating);
    if (dtype == kBool) continue;
    EXPECT_EQ(x.mm(x).scalar_type(), dtype);
  }
}

TEST(Promotion, SmallIntegersWrap) {
  const Tensor u = full({2}, 200, kByte), c = full({2}, 100, kChar), s = full({2}, 30000, kShort);
  EXPECT_EQ((u + u).select(0, 0).item<int>(), 144);
  EXPECT_EQ((u * 2).select(0, 1).item<int>(), 144);
  EXPECT_EQ(neg(u).select(0, 0).item<int>(), 56);
  EXPECT_EQ((c + c).select(0, 0).item<int>(), -56);
  EXPECT_EQ((s * 2).select(0, 0).item<int>(), 60000 - 65536);
  EXPECT_EQ(abs(full({2}, -128, kChar)).select(0, 0).item<int>(), -128);
  EXPECT_EQ(u.sum().item<int>(), 400);
  EXPECT_EQ(full({2}, 3, kChar).pow(5).select(0, 0).item<int>(), 243 - 256);
  EXPECT_EQ(full({2}, 7, kLong).pow(30).select(0, 0).item<std::int64_t>(), 1576789505350337489);
  EXPECT_EQ(pow(full({2}, -1, kInt), full({2}, -3, kInt)).select(0, 0).item<int>(), -1);
  EXPECT_EQ(pow(full({2}, 2, kInt), full({2}, -3, kInt)).select(0, 0).item<int>(), 0);
  EXPECT_TRUE((full({2}, 1, kByte) < -2).select(0, 0).item<bool>());  // -2 is 254 there
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.msg();
  }
  return "no error";
}

TEST(Errors, NameOpValuesAndRemedy) {
  const Tensor x = ones({3, 4}), y = ones({5}), l = ones({3}, kLong);
  EXPECT_EQ(message([&] { x + y; }), "+: shapes [3, 4] and [5] do not broadcast (4 against 5)");
  EXPECT_EQ(message([&] { mm(x, x); }),
            "mm: shapes [3, 4] and [3, 4] do not fit: 4 columns against 3 rows");
  EXPECT_EQ(message([&] {
              x.view({5, -1});
            }),
            "view: shape [3, 4] of 12 elements does not fit [5, -1]");
  EXPECT_EQ(message([&] { x.select(0, 3); }),
            "select: index 3 is out of range for dim 0 of size 3");
  EXPECT_EQ(message([&] { x.sum(2); }), "sum: dim 2 is out of range; it must be in [-2, 1]");
  EXPECT_EQ(message([&] { l.mean(); }),
            "mean: not defined for Long tensors; give a floating dtype, as in mean(kFloat)");
  EXPECT_EQ(message([&] { ones({0}).max(); }),
            "max: nothing to choose from: dim 0 of shape [0] has size 0");
  EXPECT_EQ(message([&] { index_select(x, 0, l.mul(3)); }),
            "index_select: index 3 at position [0] is out of range; it must be in [0, 3)");
  EXPECT_EQ(message([&] { cross_entropy_loss(x, l.mul(4)); }),
            "cross_entropy_loss: target 4 at position [0] is out of range; it must be in [0, 4)");
  EXPECT_EQ(message([&] { x.to(kCUDA); }),
            "to: no device cuda here: Groove has no GPU backend yet; use kCPU");
}

TEST(Errors, ChangeNothing) {
  const Tensor x = zeros({3}, kLong), y = ones({3});
  EXPECT_NE(message([&] { x.add_(y); }), "no error");
  EXPECT_NE(message([&] { x.add_(ones({2, 3}, kLong)); }), "no error");
  EXPECT_EQ(x.sum().item<std::int64_t>(), 0);
}

TEST(Views, WriteThrough) {
  const Tensor x = zeros({4, 3});
  x.select(0, 1) += 2;
  x.slice(0, 2, 4).select(1, 0).fill_(5);
  EXPECT_EQ(x.sum().item<float>(), 16);
  EXPECT_EQ(x.t().reshape({-1}).select(0, 2).item<float>(), 5);
  EXPECT_TRUE(x.slice().is_same(x));
}

TEST(Products, OfAnyRank) {
  const Tensor a = ones({2, 3, 4}), b = ones({4}), c = ones({5, 1, 4, 2});
  EXPECT_EQ(matmul(a, b).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(matmul(b, a.transpose(1, 2)).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(matmul(b, b).item<float>(), 4);
  EXPECT_EQ(matmul(a, c).sizes(), IntArrayRef({5, 2, 3, 2}));
  EXPECT_EQ(linear(a, ones({6, 4})).sizes(), IntArrayRef({2, 3, 6}));
}

}  // namespace
}  // namespace groove
