// The right matrix is transposed in registers on its way from memory to the multiplication, a
// cache line of each column at a time. Two groups of columns are under way at once, so that the
// latency of one's chains hides behind the other's.
#include "kernels/contraction/few_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/contraction/transposed_tile.h"
#include "kernels/contraction/ymm.h"
#include "kernels/order.h"

namespace groove::kernels {
namespace {

template <typename T>
struct Product {
  const T* a;
  std::int64_t a_row;
  const T* b;
  std::int64_t b_column;
  T* sums;
  std::int64_t sums_row;
};

constexpr std::int64_t kLine = 64;  // bytes
// Lines of columns that are a page apart share a set of the first-level cache, which holds those
// of one group: the second group is some lines behind.
constexpr std::int64_t kBehind = 4;

// `count` steps of the chains of kGroups groups of columns, a group being a vector.
template <int kRows, int kGroups, typename T>
void chunk(const Product<T>& p, std::int64_t count, bool is_first) {
  using L = Ymm<T>;
  using Vector = typename L::Type;
  constexpr std::int64_t kWidth = L::kLanes, kSteps = kLine / sizeof(T);
  Vector chains[kGroups][kRows];
  for (auto& group : chains)
    for (Vector& chain : group) chain = L::set(0);
  const std::int64_t lines = count / kSteps;
  const auto lines_at = [&](std::int64_t line, int first, int last) {
#pragma GCC unroll 4
    for (int quarter = 0; quarter < kSteps; quarter += 4) {
#pragma GCC unroll 2
      for (int g = first; g < last; ++g) {
        const std::int64_t i = (line - g * kBehind) * kSteps + quarter;
        Vector steps[4];
        transpose_half(p.b + g * kWidth * p.b_column + i, p.b_column, steps);
#pragma GCC unroll 4
        for (int step = 0; step < 4; ++step)
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r)
            chains[g][r] = L::fma(L::set(p.a[r * p.a_row + i + step]), steps[step], chains[g][r]);
      }
    }
  };
  std::int64_t line = 0;
  if constexpr (kGroups == 1) {
    for (; line < lines; ++line) lines_at(line, 0, 1);
  } else {
    for (; line < std::min(lines, kBehind); ++line) lines_at(line, 0, 1);
    line = kBehind;
    for (; line < lines; ++line) lines_at(line, 0, 2);
    for (; line < lines + kBehind; ++line) lines_at(line, 1, 2);
  }
  for (std::int64_t i = lines * kSteps; i < count; ++i) {
    for (int g = 0; g < kGroups; ++g) {
      T values[kWidth];
      for (int j = 0; j < kWidth; ++j) values[j] = p.b[(g * kWidth + j) * p.b_column + i];
      for (int r = 0; r < kRows; ++r)
        chains[g][r] = L::fma(L::set(p.a[r * p.a_row + i]), L::load(values), chains[g][r]);
    }
  }
  for (int g = 0; g < kGroups; ++g) {
    for (int r = 0; r < kRows; ++r) {
      T* const to = p.sums + r * p.sums_row + g * kWidth;
      L::store(to, is_first ? chains[g][r] : L::add(L::load(to), chains[g][r]));
    }
  }
}

template <int kRows, int kGroups, typename T>
void groups(Product<T> p, std::int64_t k) {
  for (std::int64_t begin = 0; begin < k; begin += order::kContractionChunk) {
    const std::int64_t count = std::min(order::kContractionChunk, k - begin);
    chunk<kRows, kGroups>(p, count, begin == 0);
    p.a += count;
    p.b += count;
  }
}

// Fewer columns than a vector has lanes: they are copied beside columns of zeros.
template <int kRows, typename T>
void last_columns(Product<T> p, std::int64_t cols, std::int64_t k) {
  constexpr std::int64_t kWidth = Ymm<T>::kLanes;
  T columns[kWidth][order::kContractionChunk] = {};
  T sums[kRows][kWidth];
  for (std::int64_t begin = 0; begin < k; begin += order::kContractionChunk) {
    const std::int64_t count = std::min(order::kContractionChunk, k - begin);
    for (std::int64_t j = 0; j < cols; ++j)
      std::memcpy(columns[j], p.b + j * p.b_column + begin,
                  static_cast<std::size_t>(count) * sizeof(T));
    chunk<kRows, 1>(
        Product<T>{p.a + begin, p.a_row, columns[0], order::kContractionChunk, sums[0], kWidth},
        count, begin == 0);
  }
  for (int r = 0; r < kRows; ++r) std::copy_n(sums[r], cols, p.sums + r * p.sums_row);
}

template <int kRows, typename T>
void rows_by_columns(Product<T> p, std::int64_t cols, std::int64_t k) {
  constexpr int kGroups = 2;
  constexpr std::int64_t kWidth = Ymm<T>::kLanes;
  const auto go_on = [&p](std::int64_t by) {
    p.b += by * p.b_column;
    p.sums += by;
  };
  for (; cols >= kGroups * kWidth; cols -= kGroups * kWidth, go_on(kGroups * kWidth))
    groups<kRows, kGroups>(p, k);
  for (; cols >= kWidth; cols -= kWidth, go_on(kWidth)) groups<kRows, 1>(p, k);
  if (cols > 0) last_columns<kRows>(p, cols, k);
}

}  // namespace

template <typename T>
void chain_of_few_rows(const T* a, std::int64_t a_row, std::int64_t rows, const T* b,
                       std::int64_t b_column, std::int64_t cols, std::int64_t k, T* sums,
                       std::int64_t sums_row) {
  const Product<T> product{a, a_row, b, b_column, sums, sums_row};
  switch (rows) {
    case 1:
      return rows_by_columns<1>(product, cols, k);
    case 2:
      return rows_by_columns<2>(product, cols, k);
    case 3:
      return rows_by_columns<3>(product, cols, k);
    default:
      return rows_by_columns<4>(product, cols, k);
  }
}

template void chain_of_few_rows(const float*, std::int64_t, std::int64_t, const float*,
                                std::int64_t, std::int64_t, std::int64_t, float*, std::int64_t);
template void chain_of_few_rows(const double*, std::int64_t, std::int64_t, const double*,
                                std::int64_t, std::int64_t, std::int64_t, double*, std::int64_t);

}  // namespace groove::kernels
