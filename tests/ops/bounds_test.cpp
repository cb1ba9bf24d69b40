// Bounds of values are rounded to their dtype, both of a pair. g++ 12 takes neighbouring
// conversions from double to float and back for nothing when it makes vectors of them
// (-ftree-slp-vectorize); a bound that is not rounded lets a pass drop a clamp that does something.
#include <gtest/gtest.h>

#include "groove/half.h"
#include "kernels/ops/rules.h"

namespace groove::testing {
namespace {

double in_float(double value) {
  const volatile float rounded = static_cast<float>(value);
  return rounded;
}

TEST(Bounds, AreRoundedToFloat) {
  const volatile double low = 0.1, high = 0.7;
  const ValueRange range = in_dtype({low, high}, kFloat);
  EXPECT_EQ(range.low, in_float(0.1));
  EXPECT_EQ(range.high, in_float(0.7));
  EXPECT_NE(range.low, 0.1);
}

TEST(Bounds, AreRoundedToSmallFloatsByWayOfFloat) {
  const volatile double low = 0.1, high = 0.7;
  const ValueRange half = in_dtype({low, high}, kHalf);
  EXPECT_EQ(half.low, static_cast<float>(Half(static_cast<float>(in_float(0.1)))));
  EXPECT_EQ(half.high, static_cast<float>(Half(static_cast<float>(in_float(0.7)))));
  const ValueRange bfloat = in_dtype({low, high}, kBFloat16);
  EXPECT_EQ(bfloat.low, static_cast<float>(BFloat16(static_cast<float>(in_float(0.1)))));
  EXPECT_EQ(bfloat.high, static_cast<float>(BFloat16(static_cast<float>(in_float(0.7)))));
}

TEST(Bounds, OfANumber) {
  const volatile double value = 0.1;
  const ValueRange range = range_of(Scalar(static_cast<double>(value)), kFloat);
  EXPECT_EQ(range.low, in_float(0.1));
  EXPECT_EQ(range.high, in_float(0.1));
}

TEST(Bounds, AreRoundedByAConversion) {
  const volatile double low = 0.1, high = 0.7;
  const ValueRange range = converted_range(kDouble, {low, high}, kFloat);
  EXPECT_EQ(range.low, in_float(0.1));
  EXPECT_EQ(range.high, in_float(0.7));
}

}  // namespace
}  // namespace groove::testing
