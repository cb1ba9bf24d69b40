// Contractions of class "dot": a few output elements, each a row reduction over products.
#pragma once

#include <cstdint>

namespace groove::kernels {

/// sums[j] = the sum over k of a[i] * b[j * b_column + i] in row order (numerics.md §3), for every
/// j < n; a and each column of b contiguous.
void dot_row_order(const float* a, const float* b, std::int64_t b_column, std::int64_t n,
                   std::int64_t k, float* sums);
void dot_row_order(const double* a, const double* b, std::int64_t b_column, std::int64_t n,
                   std::int64_t k, double* sums);

}  // namespace groove::kernels
