// Squares of a matrix, transposed in registers: 8x8 for f32, 4x4 for f64. 256-bit code is used
// under AVX-512 too: twice as many shuffles a cycle make up for the width.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace groove::kernels {

// Rows r and r + 4 of the source side by side: their halves are exchanged by the load itself,
// which saves the last third of the shuffles.
inline __m256 load_halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

// Four source columns of eight rows, transposed: out[c] holds column c of rows 0 … 7.
inline void transpose_half(__m256 r0, __m256 r1, __m256 r2, __m256 r3, __m256* out) {
  const __m256 t0 = _mm256_unpacklo_ps(r0, r1), t1 = _mm256_unpackhi_ps(r0, r1);
  const __m256 t2 = _mm256_unpacklo_ps(r2, r3), t3 = _mm256_unpackhi_ps(r2, r3);
  out[0] = _mm256_shuffle_ps(t0, t2, 0x44);
  out[1] = _mm256_shuffle_ps(t0, t2, 0xee);
  out[2] = _mm256_shuffle_ps(t1, t3, 0x44);
  out[3] = _mm256_shuffle_ps(t1, t3, 0xee);
}
inline void transpose_half(const float* from, std::int64_t row, __m256* out) {
  transpose_half(load_halves(from, from + 4 * row), load_halves(from + row, from + 5 * row),
                 load_halves(from + 2 * row, from + 6 * row),
                 load_halves(from + 3 * row, from + 7 * row), out);
}

inline void transpose_4x4(__m256d r0, __m256d r1, __m256d r2, __m256d r3, __m256d* out) {
  const __m256d t0 = _mm256_unpacklo_pd(r0, r1), t1 = _mm256_unpackhi_pd(r0, r1);
  const __m256d t2 = _mm256_unpacklo_pd(r2, r3), t3 = _mm256_unpackhi_pd(r2, r3);
  out[0] = _mm256_permute2f128_pd(t0, t2, 0x20);
  out[1] = _mm256_permute2f128_pd(t1, t3, 0x20);
  out[2] = _mm256_permute2f128_pd(t0, t2, 0x31);
  out[3] = _mm256_permute2f128_pd(t1, t3, 0x31);
}
inline void transpose_half(const double* from, std::int64_t row, __m256d* out) {
  transpose_4x4(_mm256_loadu_pd(from), _mm256_loadu_pd(from + row), _mm256_loadu_pd(from + 2 * row),
                _mm256_loadu_pd(from + 3 * row), out);
}

}  // namespace groove::kernels
