// 256 bits of f32 or f64, as product kernels use them: under AVX-512 too, where that is as fast.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace groove::kernels {

template <typename T>
struct Ymm;
template <>
struct Ymm<float> {
  using Type = __m256;
  static constexpr std::int64_t kLanes = 8;
  static Type set(float x) { return _mm256_set1_ps(x); }
  static Type load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Type x) { _mm256_storeu_ps(p, x); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  static Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
  /// The first `count` lanes.
  static __m256i mask(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};
template <>
struct Ymm<double> {
  using Type = __m256d;
  static constexpr std::int64_t kLanes = 4;
  static Type set(double x) { return _mm256_set1_pd(x); }
  static Type load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, Type x) { _mm256_storeu_pd(p, x); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  static Type add(Type a, Type b) { return _mm256_add_pd(a, b); }
  static __m256i mask(std::int64_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
};

}  // namespace groove::kernels
