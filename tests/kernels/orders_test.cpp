// Reductions against a second implementation of the orders, written from numerics.md §3 with its
// own numbers and by levels and recursion instead of stacks and lanes in registers.
#include <cmath>
#include <random>

#include "tests/kernels/kernel_harness.h"

namespace groove::kernels::testing {
namespace {

template <typename T>
T combine(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::kReduceSum:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      } else {
        return a + b;
      }
    case Prim::kReduceProd:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      } else {
        return a * b;
      }
    case Prim::kReduceMax:
      return std::isnan(static_cast<double>(a)) ? a : b <= a ? a : b;
    default:
      return std::isnan(static_cast<double>(a)) ? a : b >= a ? a : b;
  }
}

template <typename T>
T level_by_level(Prim prim, std::vector<T> values) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      next.push_back(combine(prim, values[i], values[i + 1]));
    }
    if (values.size() % 2 == 1) next.push_back(values.back());
    values = next;
  }
  return values[0];
}

template <typename T>
T empty_value(Prim prim) {
  using Limits = std::numeric_limits<T>;
  switch (prim) {
    case Prim::kReduceSum:
      return T{0};
    case Prim::kReduceProd:
      return T{1};
    case Prim::kReduceMax:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    default:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
}

// Lane j of a chunk from the elements that are j mod 32; lanes without any are left out, which is
// what their identity means.
template <typename T>
T row_order(Prim prim, const std::vector<T>& row) {
  if (row.empty()) return empty_value<T>(prim);
  std::vector<T> chunks;
  for (std::size_t begin = 0; begin < row.size(); begin += 4096) {
    const std::size_t end = std::min(begin + 4096, row.size());
    std::vector<T> lanes;
    for (std::size_t j = begin; j < std::min(begin + 32, end); ++j) {
      T lane = row[j];
      for (std::size_t i = j + 32; i < end; i += 32) lane = combine(prim, lane, row[i]);
      lanes.push_back(lane);
    }
    for (std::size_t step : {16, 8, 4, 2, 1}) {
      for (std::size_t j = 0; j < step && j + step < lanes.size(); ++j) {
        lanes[j] = combine(prim, lanes[j], lanes[j + step]);
      }
      if (lanes.size() > step) lanes.resize(step);
    }
    chunks.push_back(lanes[0]);
  }
  return level_by_level(prim, chunks);
}

template <typename T>
T column_order(Prim prim, const std::vector<T>& column) {
  if (column.empty()) return empty_value<T>(prim);
  std::vector<T> chunks;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (i % 128 == 0) {
      chunks.push_back(column[i]);
    } else {
      chunks.back() = combine(prim, chunks.back(), column[i]);
    }
  }
  return level_by_level(prim, chunks);
}

template <typename T>
T tree_order(Prim prim, const std::vector<T>& row) {
  return row.empty() ? empty_value<T>(prim) : level_by_level(prim, row);
}

template <typename T>
std::int64_t arg_oracle(bool greatest, const std::vector<T>& x) {
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    const T value = x[static_cast<std::size_t>(i)];
    if (value != value) return i;
    const T held = x[static_cast<std::size_t>(best)];
    if (greatest ? value > held : value < held) best = i;
  }
  return best;
}

enum class Content { kRandom, kWithNan, kZeros, kNegativeZeros };

template <typename T>
std::vector<T> draw(std::size_t count, Content content, std::mt19937_64& random) {
  std::vector<T> x(count);
  for (T& value : x) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(content == Content::kZeros ? 0 : random());
    } else {
      switch (content) {
        case Content::kZeros:
          value = random() % 2 == 0 ? T(0.0) : T(-0.0);
          break;
        case Content::kNegativeZeros:
          value = T(-0.0);
          break;
        default:
          value = static_cast<T>(std::ldexp(1.0 + static_cast<double>(random() >> 11) * 0x1p-53,
                                            static_cast<int>(random() % 12) - 6) *
                                 (random() % 2 == 0 ? 1 : -1));
      }
    }
  }
  if constexpr (!std::is_integral_v<T>) {
    if (content == Content::kWithNan && count > 2) {
      x[count / 2] = x[count - 1] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return x;
}

constexpr Prim kReductions[] = {Prim::kReduceSum, Prim::kReduceProd, Prim::kReduceMax,
                                Prim::kReduceMin};
constexpr Content kContents[] = {Content::kRandom, Content::kWithNan, Content::kZeros,
                                 Content::kNegativeZeros};

template <typename T>
class Orders : public ::testing::Test {};
using Types =
    ::testing::Types<std::uint8_t, std::int16_t, std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Orders, Types);

// Reduces the middle axis-0 row of three, so that begins and outer axes count.
template <typename Result, typename T>
Result reduce_row(Order order, Prim prim, const std::vector<T>& row) {
  const auto length = static_cast<std::int64_t>(row.size());
  std::vector<T> padded(row.size() + 5, T{1});
  std::copy(row.begin(), row.end(), padded.begin() + 3);
  Builder b(order);
  const Expr reduced = b.reduce(prim, b.load(dtype_of<T>, StrideClass::kContiguous));
  b.next_phase();
  b.store(dtype_of<Result>, StrideClass::kBroadcast, reduced);
  Result result{};
  run(b.finish(), Operands().add(padded.data(), {1, 0}).add(&result, {0, 0}), {length, 1}, {3, 5});
  return result;
}

TYPED_TEST(Orders, RowAndTree) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (std::size_t length :
       {0,   1,    2,    3,    31,   32,   33,    63,    100,   511,   512,
        513, 1023, 4095, 4096, 4097, 8191, 12288, 12289, 20480, 28672, 50001}) {
    for (Content content : kContents) {
      const std::vector<T> row = draw<T>(length, content, random);
      for (Prim prim : kReductions) {
        const T by_row = reduce_row<T>(Order::kRow, prim, row);
        EXPECT_TRUE(same_bits(by_row, row_order(prim, row)))
            << name(prim) << " of " << length << " gave " << +by_row;
        const T by_tree = reduce_row<T>(Order::kTree, prim, row);
        EXPECT_TRUE(same_bits(by_tree, tree_order(prim, row)))
            << "tree " << name(prim) << " of " << length << " gave " << +by_tree;
      }
      if (length == 0) continue;
      for (bool greatest : {true, false}) {
        const Prim prim = greatest ? Prim::kReduceArgMax : Prim::kReduceArgMin;
        EXPECT_EQ(reduce_row<std::int64_t>(Order::kRow, prim, row), 3 + arg_oracle(greatest, row));
      }
    }
  }
}

TYPED_TEST(Orders, Column) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (std::size_t rows : {0, 1, 2, 127, 128, 129, 257, 640, 1000}) {
    for (std::size_t columns : {1, 3, 40, 511, 600}) {
      for (Content content : kContents) {
        const std::vector<T> x = draw<T>(rows * columns, content, random);
        for (Prim prim : {Prim::kReduceSum, Prim::kReduceProd, Prim::kReduceMax, Prim::kReduceMin,
                          Prim::kReduceArgMax}) {
          const bool is_arg = prim == Prim::kReduceArgMax;
          if (is_arg && rows == 0) continue;
          const auto stride = static_cast<std::int64_t>(columns);
          Builder b(Order::kColumn);
          const Expr reduced = b.reduce(prim, b.load(dtype_of<T>, StrideClass::kContiguous));
          b.next_phase();
          b.store(reduced.dtype(), StrideClass::kContiguous, reduced);
          std::vector<T> values(columns);
          std::vector<std::int64_t> indices(columns);
          void* const out = is_arg ? static_cast<void*>(indices.data()) : values.data();
          run(b.finish(), Operands().add(x.data(), {1, stride}).add(out, {1, 0}),
              {stride, static_cast<std::int64_t>(rows)});
          for (std::size_t c = 0; c < columns; ++c) {
            std::vector<T> column;
            for (std::size_t r = 0; r < rows; ++r) column.push_back(x[r * columns + c]);
            if (is_arg) {
              EXPECT_EQ(indices[c], arg_oracle(true, column));
            } else {
              EXPECT_TRUE(same_bits(values[c], column_order(prim, column)))
                  << name(prim) << " of " << rows << " rows gave " << +values[c];
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace groove::kernels::testing
