// Sorting and picking by rank on lines of every kind of length and spread, against
// std::stable_sort.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "groove/groove.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

constexpr std::int64_t kLengths[] = {1, 2, 255, 257, 3000, 5000, 70'000};

// NaN last, or first when descending.
template <typename T>
Ints stable_order(const Tensor& x, bool descending) {
  const T* data = x.const_data_ptr<T>();
  Ints order(static_cast<std::size_t>(x.numel()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const T a = data[descending ? j : i], b = data[descending ? i : j];
    return b != b ? a == a : a < b;
  });
  return order;
}

template <typename T>
void expect_order(const Tensor& x) {
  for (const bool descending : {false, true}) {
    const Ints order = stable_order<T>(x, descending);
    const auto [sorted, positions] = x.sort(0, descending);
    EXPECT_EQ(values(positions), order) << x.numel();
    EXPECT_TRUE(equal(sorted.isnan(), x.index_select(0, positions).isnan()));
    EXPECT_TRUE(equal(sorted.nan_to_num(7), x.index_select(0, positions).nan_to_num(7)));
  }
  const Ints order = stable_order<T>(x, false);
  for (const std::int64_t k : {std::int64_t{1}, (x.numel() + 2) / 3, x.numel()})
    EXPECT_EQ(std::get<1>(x.kthvalue(k, 0)).item<std::int64_t>(),
              order[static_cast<std::size_t>(k - 1)]);
  const std::int64_t nans = x.isnan().sum().item<std::int64_t>(), numbers = x.numel() - nans;
  const std::int64_t middle = std::max<std::int64_t>(numbers - 1, 0) / 2;
  EXPECT_EQ(std::get<1>(nanmedian(x, 0)).item<std::int64_t>(),
            order[static_cast<std::size_t>(middle)]);
  EXPECT_EQ(std::get<1>(median(x, 0)).item<std::int64_t>(),
            order[static_cast<std::size_t>(nans > 0 ? numbers : middle)]);
}

TEST(Order, OfIntegers) {
  manual_seed(1);
  for (const std::int64_t n : kLengths) {
    const Tensor few = randint(-3, 4, {n}), all = randint(-(1L << 62), 1L << 62, {n});
    expect_order<std::int64_t>(few);
    expect_order<std::int64_t>(few.to(kInt).to(kLong) * 1000);
    expect_order<std::int64_t>(all);
    // So far apart that a word holds nothing of how the near ones differ.
    expect_order<std::int64_t>(where(all.remainder(9) == 0, all, few));
    expect_order<std::int64_t>(
        where(few == 3, std::numeric_limits<std::int64_t>::max(),
              where(few == -3, std::numeric_limits<std::int64_t>::min(), few)));
    expect_order<std::int32_t>(randint(-1'000'000'000, 1'000'000'000, {n}).to(kInt));
    expect_order<std::uint8_t>(randint(0, 256, {n}).to(kByte));
  }
}

TEST(Order, OfFloats) {
  manual_seed(2);
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : kLengths) {
    const Tensor x = randn({n}, kDouble), kind = randint(0, 8, {n});
    const Tensor odd = where(kind == 0, NAN, where(kind == 1, inf, where(kind == 2, -inf, x)));
    // Neighbours among doubles, beside one far away.
    const Tensor near = 1 + randint(0, 4096, {n}).to(kDouble) * 0x1p-52;
    const Tensor apart = where(arange(n) == n / 2, 1e300, near);
    for (const Tensor& each :
         {x, odd, near, apart, where(kind < 4, 0.0, -0.0), full({n}, NAN, kDouble)}) {
      expect_order<double>(each.to(kDouble));
      expect_order<float>(each.to(kFloat));
    }
  }
}

TEST(Order, AlongStridedLines) {
  manual_seed(3);
  const Tensor x = randint(0, 50, {600, 3}).to(kFloat);
  const Tensor order = x.argsort(0), third = std::get<1>(x.kthvalue(300, 0));
  const Tensor middle = std::get<1>(x.median(0, true));
  EXPECT_EQ(shape(middle), (Ints{1, 3}));
  for (std::int64_t j = 0; j < 3; ++j) {
    const Ints expected = stable_order<float>(x.select(1, j).contiguous(), false);
    EXPECT_EQ(values(order.select(1, j)), expected);
    EXPECT_EQ(third[j].item<std::int64_t>(), expected[299]);
    EXPECT_EQ(middle[0][j].item<std::int64_t>(), expected[299]);
  }
}

TEST(Order, LookingUpAmongManyIsComparingWithEach) {
  manual_seed(4);
  const Tensor x = (randn({9000}) * 200).round();
  Tensor others = (randn({300}) * 200).round();
  const auto compare = [](const Tensor& elements, const Tensor& row) {
    const Tensor each = any(elements.unsqueeze(-1) == row, -1);
    EXPECT_TRUE(equal(isin(elements, row), each));
    EXPECT_TRUE(equal(isin(elements, row, false, true), logical_not(each)));
  };
  compare(x, others);
  compare(x.to(kLong).view({90, 100}), others);
  compare(x, others.to(kInt));
  others.slice(0, 0, 200).fill_(NAN);
  compare(where(x > 100, NAN, x), others);
  compare(x, full_like(others, NAN));
}

}  // namespace
}  // namespace groove
