// Accuracy of the expansions in ULP: a sample of what build/tools/ulp measures in full. f32 against
// f64, whose error is invisible at that scale; f64 against MPFR with 160 bits.
#include <gtest/gtest.h>

#include <ostream>

#include "tools/ulp/accuracy.h"

namespace groove::accuracy {

void PrintTo(const Unary& f, std::ostream* out) { *out << f.name; }
void PrintTo(const Binary& f, std::ostream* out) { *out << f.name; }

namespace {

class UnaryAccuracy : public ::testing::TestWithParam<Unary> {};
class BinaryAccuracy : public ::testing::TestWithParam<Binary> {};

template <typename Function>
void expect_within(const Function& f, const char* dtype, const Worst& worst, double bound) {
  std::printf("%s %s: %.4f ULP at %a %a\n", f.name, dtype, worst.ulp, worst.x, worst.y);
  EXPECT_LE(worst.ulp, bound) << f.name << " " << dtype << " at " << worst.x << ", " << worst.y;
}

TEST_P(UnaryAccuracy, OfSingles) {
  expect_within(GetParam(), "f32", check_single(GetParam(), 4099), GetParam().bound_single);
}
TEST_P(UnaryAccuracy, OfDoubles) {
  expect_within(GetParam(), "f64", check_double(GetParam(), 60000, 7), GetParam().bound_double);
}
// What keeps points from MPFR in the test before may be wrong by less than it allows for.
TEST_P(UnaryAccuracy, OfTheFilter) {
  const auto bound = static_cast<double>(kCloseError);
  expect_within(GetParam(), "close", check_close(GetParam(), 5000, 23), bound / 2);
}
// f32's error and the rounding to the half: half a unit and a little.
TEST_P(UnaryAccuracy, OfHalves) {
  expect_within(GetParam(), "f16", check_half(GetParam(), kHalf), 0.51);
  expect_within(GetParam(), "bf16", check_half(GetParam(), kBFloat16), 0.51);
}
TEST_P(BinaryAccuracy, OfSingles) {
  expect_within(GetParam(), "f32", check_single(GetParam(), 400000, 11), GetParam().bound_single);
}
TEST_P(BinaryAccuracy, OfDoubles) {
  expect_within(GetParam(), "f64", check_double(GetParam(), 60000, 11), GetParam().bound_double);
}
TEST_P(BinaryAccuracy, OfTheFilter) {
  const auto bound = static_cast<double>(kCloseError);
  expect_within(GetParam(), "close", check_close(GetParam(), 5000, 23), bound / 2);
}

const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Functions, UnaryAccuracy, ::testing::ValuesIn(unary_functions()), name_of);
INSTANTIATE_TEST_SUITE_P(Functions, BinaryAccuracy, ::testing::ValuesIn(binary_functions()),
                         name_of);

}  // namespace
}  // namespace groove::accuracy
