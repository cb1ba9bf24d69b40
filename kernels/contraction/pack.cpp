// Transposition in registers, 8x8 for f32 and 4x4 for f64. 256-bit code is used under AVX-512
// too: twice as many shuffles a cycle make up for the width.
#include "kernels/contraction/pack.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "src/core/faults.h"

namespace groove::kernels {
namespace {

// The first `count` of 8 (4) lanes.
__m256i lane_mask32(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
__m256i lane_mask64(std::int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

// Rows r and r + 4 of the source side by side: their halves are exchanged by the load itself,
// which saves the last third of the shuffles.
__m256 load_halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

// Four source columns of eight rows, transposed: out[c] holds column c of rows 0 … 7.
void transpose_half(__m256 r0, __m256 r1, __m256 r2, __m256 r3, __m256* out) {
  const __m256 t0 = _mm256_unpacklo_ps(r0, r1), t1 = _mm256_unpackhi_ps(r0, r1);
  const __m256 t2 = _mm256_unpacklo_ps(r2, r3), t3 = _mm256_unpackhi_ps(r2, r3);
  out[0] = _mm256_shuffle_ps(t0, t2, 0x44);
  out[1] = _mm256_shuffle_ps(t0, t2, 0xee);
  out[2] = _mm256_shuffle_ps(t1, t3, 0x44);
  out[3] = _mm256_shuffle_ps(t1, t3, 0xee);
}

void load_tile(const float* from, std::int64_t row, __m256* out) {
  for (int half = 0; half < 2; ++half, from += 4) {
    transpose_half(load_halves(from, from + 4 * row), load_halves(from + row, from + 5 * row),
                   load_halves(from + 2 * row, from + 6 * row),
                   load_halves(from + 3 * row, from + 7 * row), out + 4 * half);
  }
}

void load_tile_edge(const float* from, std::int64_t row, std::int64_t rows, std::int64_t cols,
                    __m256* out) {
  const __m256i mask = lane_mask32(cols);
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

void transpose_4x4(__m256d r0, __m256d r1, __m256d r2, __m256d r3, __m256d* out) {
  const __m256d t0 = _mm256_unpacklo_pd(r0, r1), t1 = _mm256_unpackhi_pd(r0, r1);
  const __m256d t2 = _mm256_unpacklo_pd(r2, r3), t3 = _mm256_unpackhi_pd(r2, r3);
  out[0] = _mm256_permute2f128_pd(t0, t2, 0x20);
  out[1] = _mm256_permute2f128_pd(t1, t3, 0x20);
  out[2] = _mm256_permute2f128_pd(t0, t2, 0x31);
  out[3] = _mm256_permute2f128_pd(t1, t3, 0x31);
}

void load_tile(const double* from, std::int64_t row, __m256d* out) {
  transpose_4x4(_mm256_loadu_pd(from), _mm256_loadu_pd(from + row), _mm256_loadu_pd(from + 2 * row),
                _mm256_loadu_pd(from + 3 * row), out);
}

void load_tile_edge(const double* from, std::int64_t row, std::int64_t rows, std::int64_t cols,
                    __m256d* out) {
  const __m256i mask = lane_mask64(cols);
  __m256d in[4];
  for (int r = 0; r < 4; ++r) {
    in[r] = r < rows ? _mm256_maskload_pd(from + r * row, mask) : _mm256_setzero_pd();
  }
  transpose_4x4(in[0], in[1], in[2], in[3], out);
}

void store(float* to, __m256 value) { _mm256_storeu_ps(to, value); }
void store(double* to, __m256d value) { _mm256_storeu_pd(to, value); }

template <typename T>
struct Tile;
template <>
struct Tile<float> {
  static constexpr std::int64_t kSide = 8;
  __m256 columns[kSide];
};
template <>
struct Tile<double> {
  static constexpr std::int64_t kSide = 4;
  __m256d columns[kSide];
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
    for (int i = 0; i < kSide; ++i) store(to + i * to_row, tile.columns[i]);
  }
}

template <typename T>
void transpose_edge(const T* from, std::int64_t from_row, T* to, std::int64_t to_row,
                    std::int64_t rows, std::int64_t cols, bool may_store_whole) {
  Tile<T> tile;
  load_tile_edge(from, from_row, rows, cols, tile.columns);
  for (int i = 0; i < cols; ++i) {
    if (may_store_whole) {
      store(to + i * to_row, tile.columns[i]);
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
