// Sums over axes around a kept one, as of channels over images: the order is that of the rows
// beside each other, and so are the bits; numbers against sums in order by hand.
#include <gtest/gtest.h>

#include <cstring>

#include "groove/groove.h"

namespace groove {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.numel() == b.numel() && a.scalar_type() == b.scalar_type() &&
         std::memcmp(a.data_ptr(), b.data_ptr(),
                     static_cast<std::size_t>(a.numel()) * a.element_size()) == 0;
}

// Chunks of 128 elements in order, which combine pairwise by index, an odd one carried up.
template <typename T>
T sum_in_order(const Tensor& rows, std::int64_t column) {
  const Tensor line = rows.select(1, column).contiguous();
  const T* const data = line.const_data_ptr<T>();
  std::vector<T> level;
  for (std::int64_t i = 0; i < line.numel(); ++i) {
    if (i % 128 == 0) level.push_back(static_cast<T>(-0.0));
    level.back() += data[i];
  }
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    level = next;
  }
  return level[0];
}

template <typename T>
void check(IntArrayRef sizes, ScalarType dtype) {
  const Tensor x = randn(sizes).to(dtype);
  const std::int64_t channels = sizes[1];
  const Tensor rows = x.movedim(1, -1).reshape({-1, channels}).contiguous();
  std::vector<std::int64_t> around;
  for (std::int64_t i = 0; i < x.dim(); ++i)
    if (i != 1) around.push_back(i);
  const Tensor sums = x.sum(around);
  EXPECT_TRUE(same_bits(sums, rows.sum(0)));
  EXPECT_TRUE(same_bits(x.mean(around), rows.mean(0)));
  for (std::int64_t c = 0; c < channels; ++c)
    EXPECT_EQ(sums[c].item<T>(), sum_in_order<T>(rows, c)) << c;
}

TEST(ColumnSums, OfChannels) {
  manual_seed(1);
  const int threads = get_num_threads();
  for (const int count : {1, 2, 3}) {
    set_num_threads(count);
    for (const std::int64_t inner : {64, 128, 130, 1000, 1024, 2048, 3136, 5000}) {
      check<float>({3, 5, inner}, kFloat);
      check<double>({2, 3, inner}, kDouble);
    }
    check<float>({1, 4, 4096}, kFloat);
    check<float>({4, 2, 3, 16, 16}, kFloat);
  }
  set_num_threads(threads);
}

TEST(ColumnSums, OfZerosAndOfOtherThings) {
  const Tensor none = full({2, 3, 2048}, -0.0);
  EXPECT_TRUE(same_bits(none.sum({0, 2}), full({3}, -0.0)));
  manual_seed(2);
  const Tensor x = randn({2, 3, 4, 512}), rows = x.movedim(1, -1).reshape({-1, 3}).contiguous();
  EXPECT_TRUE(same_bits(x.amax({0, 2, 3}), rows.amax(0)));
  EXPECT_TRUE(same_bits(x.norm(2, {0, 2, 3}), rows.norm(2, {0})));
  EXPECT_TRUE(same_bits(x.slice(3, 0, 300).sum({0, 2, 3}),
                        x.slice(3, 0, 300).movedim(1, -1).reshape({-1, 3}).sum(0)));
  EXPECT_TRUE(same_bits(x.transpose(0, 1).sum({1, 2, 3}, true).view({3}),
                        x.transpose(0, 1).contiguous().sum({1, 2, 3})));
}

}  // namespace
}  // namespace groove
