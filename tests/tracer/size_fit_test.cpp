#include "tracer/cache/size_fit.h"

#include <gtest/gtest.h>

#include <bit>

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

// The rows of pieces of many sizes together, and what a mean of them divides by.
TEST(SizeFit, TellsASumOfManySizes) {
  const std::vector<std::vector<std::int64_t>> sizes = {{3, 5, 8}, {7, 2, 9},  {4, 4, 3},
                                                        {9, 6, 2}, {5, 12, 7}, {2, 3, 11}};
  SizedRow rows{SizedRow::Kind::kInteger, {}}, mean{SizedRow::Kind::kFloat, {}};
  for (const auto& each : sizes) {
    rows.values.push_back(each[0] + each[1] + each[2] + 1);
    const float share = 1.0f / static_cast<float>(4 * (each[0] + each[1] + each[2]));
    mean.values.push_back(std::bit_cast<std::int64_t>(static_cast<double>(share)));
  }
  const auto found = fit_rows(sizes, {rows, mean});
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_EQ(found[0]->value({10, 20, 30}), 61);
  EXPECT_EQ(static_cast<float>(std::bit_cast<double>(found[1]->value({10, 20, 30}))), 1.0f / 240);
  rows.values[2] += 1;
  EXPECT_FALSE(fit_rows(sizes, {rows})[0]);
}

// What the program shows may be a sum of sizes or one of its own: few recordings do not tell.
TEST(SizeFit, WaitsWhereASizeMayBeASum) {
  const auto shown = [](const std::vector<std::vector<std::int64_t>>& samples) {
    SizeNumbers numbers;
    numbers.numbers.resize(4);
    numbers.shown = {0, 4};
    return fit_sizes(numbers, samples);
  };
  std::vector<std::vector<std::int64_t>> samples = {{3, 5, 8, 16}, {7, 2, 9, 18}, {4, 4, 3, 11}};
  EXPECT_NE(shown(samples).failure, "");
  std::vector<std::vector<std::int64_t>> sums = samples;
  sums.insert(sums.end(), {{9, 6, 2, 17}, {5, 12, 7, 24}});
  EXPECT_EQ(shown(sums).symbols.size(), 3u);
  samples.push_back({9, 6, 2, 11});
  EXPECT_EQ(shown(samples).symbols.size(), 4u);
}

// Sizes are often one more or less than what the program shows.
TEST(SizeFit, TellsAProductOfShiftedSizes) {
  const SizeFit fit = fit_of({{5, 16}, {7, 36}, {4, 9}, {6, 25}});
  ASSERT_EQ(fit.failure, "");
  EXPECT_EQ(fit.expressions[1].value({10}), 81);
  EXPECT_NE(fit_of({{5, 16}, {7, 36}, {4, 9}}).failure, "") << "nothing confirms it";
  EXPECT_NE(fit_of({{5, 16}, {7, 36}, {4, 9}, {5, 16}}).failure, "") << "the same again";
  EXPECT_NE(fit_of({{5, 16}, {7, 36}, {4, 9}, {6, 26}}).failure, "");
}

// 15 a + 11 b is 8 b + 63 where (a, b) is (2, 11) or (3, 6): a third recording in which only
// another size differs confirms neither.
TEST(SizeFit, OtherSizesConfirmNothing) {
  const std::vector<std::vector<std::int64_t>> sizes = {{2, 11, 7}, {3, 6, 34}, {2, 11, 20}};
  EXPECT_FALSE(fit_rows(sizes, {{SizedRow::Kind::kInteger, {151, 111, 151}}})[0]);
}

// 4 a + 15 is b - 26 where (a, b) is (3, 53) or (4, 57).
TEST(SizeFit, TwoRecordingsTellNoShiftFromALine) {
  const SizedRow row{SizedRow::Kind::kInteger, {27, 31, 27}};
  EXPECT_FALSE(fit_rows({{3, 53}, {4, 57}, {3, 53}}, {row})[0]);
  const auto found =
      fit_rows({{3, 53}, {4, 57}, {6, 60}}, {{SizedRow::Kind::kInteger, {27, 31, 39}}})[0];
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value({8, 100}), 47);
}

TEST(SizeFit, OfTwoSizesOfPrograms) {
  std::vector<std::vector<std::int64_t>> sizes;
  SizedRow row;
  for (std::int64_t a = 3; a < 12; a += 4)
    for (std::int64_t b = 2; b < 9; b += 3) {
      sizes.push_back({a, b});
      row.values.push_back((a - 1) * (b + 2) * 4);
    }
  const auto found = fit_rows(sizes, {row});
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0]->value({100, 50}), 99 * 52 * 4);
}

TEST(SizeFit, FloatsAreRounded) {
  std::vector<std::vector<std::int64_t>> sizes;
  SizedRow row{SizedRow::Kind::kFloat, {}};
  for (const std::int64_t n : {3, 7, 30, 11}) {
    sizes.push_back({n});
    row.values.push_back(
        std::bit_cast<std::int64_t>(static_cast<double>(1.0f / static_cast<float>(4 * n))));
  }
  const auto found = fit_rows(sizes, {row});
  ASSERT_TRUE(found[0]);
  const auto value = std::bit_cast<double>(found[0]->value({13}));
  EXPECT_EQ(static_cast<float>(value), 1.0f / 52);
}

}  // namespace
}  // namespace groove::tracer
