// Copies and transpositions, square by square.
#include "kernels/contraction/pack.h"

#include <algorithm>
#include <cstring>

#include "kernels/contraction/transposed_tile.h"
#include "kernels/contraction/ymm.h"
#include "src/core/faults.h"

namespace groove::kernels {
namespace {

void load_tile(const float* from, std::int64_t row, __m256* out) {
  transpose_half(from, row, out);
  transpose_half(from + 4, row, out + 4);
}

void load_tile_edge(const float* from, std::int64_t row, std::int64_t rows, std::int64_t cols,
                    __m256* out) {
  const __m256i mask = Ymm<float>::mask(cols);
  __m256 in[8];
  for (int r = 0; r < 8; ++r) {
    in[r] = r < rows - has_fault(Fault::kTransposeEdge) ? _mm256_maskload_ps(from + r * row, mask)
                                                        : _mm256_setzero_ps();
  }
  __m256 low[4], high[4];
  for (int r = 0; r < 4; ++r) {
    low[r] = _mm256_permute2f128_ps(in[r], in[r + 4], 0x20);
    high[r] = _mm256_permute2f128_ps(in[r], in[r + 4], 0x31);
  }
  transpose_half(low[0], low[1], low[2], low[3], out);
  transpose_half(high[0], high[1], high[2], high[3], out + 4);
}

void load_tile(const double* from, std::int64_t row, __m256d* out) {
  transpose_half(from, row, out);
}

void load_tile_edge(const double* from, std::int64_t row, std::int64_t rows, std::int64_t cols,
                    __m256d* out) {
  const __m256i mask = Ymm<double>::mask(cols);
  __m256d in[4];
  for (int r = 0; r < 4; ++r) {
    in[r] = r < rows ? _mm256_maskload_pd(from + r * row, mask) : _mm256_setzero_pd();
  }
  transpose_4x4(in[0], in[1], in[2], in[3], out);
}

template <typename T>
struct Tile {
  static constexpr std::int64_t kSide = Ymm<T>::kLanes;
  typename Ymm<T>::Type columns[kSide];
};

// kSide rows by `cols` columns, a multiple of kSide. Kept apart from the edges so that the tile
// never leaves registers.
template <typename T>
void transpose_strip(const T* from, std::int64_t from_row, T* to, std::int64_t to_row,
                     std::int64_t cols) {
  constexpr std::int64_t kSide = Tile<T>::kSide;
  for (std::int64_t c = 0; c < cols; c += kSide, from += kSide, to += kSide * to_row) {
    Tile<T> tile;
    load_tile(from, from_row, tile.columns);
    for (int i = 0; i < kSide; ++i) Ymm<T>::store(to + i * to_row, tile.columns[i]);
  }
}

template <typename T>
void transpose_edge(const T* from, std::int64_t from_row, T* to, std::int64_t to_row,
                    std::int64_t rows, std::int64_t cols, bool may_store_whole) {
  Tile<T> tile;
  load_tile_edge(from, from_row, rows, cols, tile.columns);
  for (int i = 0; i < cols; ++i) {
    if (may_store_whole) {
      Ymm<T>::store(to + i * to_row, tile.columns[i]);
    } else {
      std::memcpy(to + i * to_row, &tile.columns[i], static_cast<std::size_t>(rows) * sizeof(T));
    }
  }
}

}  // namespace

template <typename T>
void transpose(const T* from, std::int64_t from_row, T* to, std::int64_t to_row, std::int64_t rows,
               std::int64_t cols, bool is_padded) {
  constexpr std::int64_t kSide = Tile<T>::kSide;
  // So many columns at a time that the destination's rows stay in L1 while they fill up.
  const std::int64_t to_bytes = std::max<std::int64_t>(to_row * std::int64_t{sizeof(T)}, 1);
  const std::int64_t columns = std::clamp<std::int64_t>(8192 / to_bytes, 16, 64) / kSide * kSide;
  for (std::int64_t c0 = 0; c0 < cols; c0 += columns) {
    const std::int64_t count = std::min(cols - c0, columns), whole = count / kSide * kSide;
    for (std::int64_t r = 0; r < rows; r += kSide) {
      const std::int64_t high = std::min(kSide, rows - r);
      const T* source = from + r * from_row + c0;
      T* target = to + c0 * to_row + r;
      std::int64_t c = 0;
      if (high == kSide) {
        transpose_strip(source, from_row, target, to_row, whole);
        c = whole;
      }
      for (; c < count; c += kSide) {
        transpose_edge(source + c, from_row, target + c * to_row, to_row, high,
                       std::min(kSide, count - c), is_padded || high == kSide);
      }
    }
  }
}

template <typename T>
void copy_matrix(const T* from, std::int64_t from_row, std::int64_t from_col, T* to,
                 std::int64_t to_row, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
    if (from_col == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(cols) * sizeof(T));
      continue;
    }
    for (std::int64_t c = 0; c < cols; ++c) to[c] = from[c * from_col];
  }
}

template void transpose(const float*, std::int64_t, float*, std::int64_t, std::int64_t,
                        std::int64_t, bool);
template void transpose(const double*, std::int64_t, double*, std::int64_t, std::int64_t,
                        std::int64_t, bool);
template void copy_matrix(const float*, std::int64_t, std::int64_t, float*, std::int64_t,
                          std::int64_t, std::int64_t);
template void copy_matrix(const double*, std::int64_t, std::int64_t, double*, std::int64_t,
                          std::int64_t, std::int64_t);

}  // namespace groove::kernels
