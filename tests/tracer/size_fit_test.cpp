#include "tracer/cache/size_fit.h"

#include <gtest/gtest.h>

namespace groove::tracer {
namespace {

// One number that the program shows, and one inside that must follow from it.
SizeFit fit_of(const std::vector<std::vector<std::int64_t>>& samples) {
  SizeNumbers numbers;
  numbers.numbers.resize(2);
  numbers.shown = {0, 1};
  return fit_sizes(numbers, samples);
}

TEST(SizeFit, GivesAProductByAFactor) {
  const SizeFit fit = fit_of({{3, 12}, {5, 20}});
  ASSERT_EQ(fit.failure, "");
  EXPECT_EQ(fit.expressions[1].value({7}), 28);
}

// 4 n and n³ are the same at 0 and 2: a product of zero tells nothing, and yet 4 n is one of two.
TEST(SizeFit, WaitsWhileASampleOfZeroLeavesTwoWays) {
  EXPECT_NE(fit_of({{0, 0}, {2, 8}}).failure, "");
  const SizeFit fit = fit_of({{0, 0}, {2, 8}, {3, 12}});
  ASSERT_EQ(fit.failure, "");
  EXPECT_EQ(fit.expressions[1].value({1}), 4);
}

TEST(SizeFit, TellsACubeFromAProduct) {
  const SizeFit fit = fit_of({{0, 0}, {2, 8}, {3, 27}});
  ASSERT_EQ(fit.failure, "");
  EXPECT_EQ(fit.expressions[1].value({5}), 125);
}

}  // namespace
}  // namespace groove::tracer
