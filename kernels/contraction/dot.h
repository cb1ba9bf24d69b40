// Contractions of class "dot": a few output elements, each a row reduction over products.
#pragma once

#include <cstdint>

namespace groove::kernels {

/// The sum over k of a[i] * b[i] in row order (numerics.md §3); both contiguous.
float dot_row_order(const float* a, const float* b, std::int64_t k);
double dot_row_order(const double* a, const double* b, std::int64_t k);

}  // namespace groove::kernels
