// The sums of a column's chunks (numerics.md §3) where memory holds the column, not the rows: as
// the gradient of a convolution's bias, over images and their elements.
#pragma once

#include <cstdint>

namespace groove::kernels {

/// A column of outer x inner elements, the inner ones beside each other.
struct Column {
  std::int64_t outer = 1, outer_stride = 0, inner = 1;
};

/// Of each chunk of the column, in its order.
template <typename T>
void chunk_sums(const T* first, const Column& column, T* sums);

}  // namespace groove::kernels
