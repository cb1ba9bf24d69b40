// Copies that bring an operand into the form the tile kernels read, and results back out of it.
#pragma once

#include <cstdint>

namespace groove::kernels {

/// to[c][r] = from[r][c]; both contiguous along their second index. With `is_padded`, rows of `to`
/// may be written up to the next multiple of 8 elements.
template <typename T>
void transpose(const T* from, std::int64_t from_row, T* to, std::int64_t to_row, std::int64_t rows,
               std::int64_t cols, bool is_padded);

/// to[r][c] = from[r * from_row + c * from_col].
template <typename T>
void copy_matrix(const T* from, std::int64_t from_row, std::int64_t from_col, T* to,
                 std::int64_t to_row, std::int64_t rows, std::int64_t cols);

}  // namespace groove::kernels
