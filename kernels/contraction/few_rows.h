// Products of class "chain" with a few rows on the left and columns that lie contiguous on the
// right: every weight is used a few times only, too few to be copied before.
#pragma once

#include <cstdint>

namespace groove::kernels {

inline constexpr std::int64_t kFewRows = 4;

/// sums[r * sums_row + j] = the sum over i of a[r * a_row + i] * b[j * b_column + i] in the order
/// of a chain (numerics.md §4), for r < rows <= kFewRows and j < cols.
template <typename T>
void chain_of_few_rows(const T* a, std::int64_t a_row, std::int64_t rows, const T* b,
                       std::int64_t b_column, std::int64_t cols, std::int64_t k, T* sums,
                       std::int64_t sums_row);

}  // namespace groove::kernels
