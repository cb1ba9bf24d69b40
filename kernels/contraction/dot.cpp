// Row order over products: 32 lanes in vector registers, chunks of 4096, chunk values combined
// pairwise by index.
#include "kernels/contraction/dot.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "kernels/order.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kLanes = order::kRowLanes;

template <typename T>
struct Ymm;
template <>
struct Ymm<float> {
  using Type = __m256;
  static Type set(float x) { return _mm256_set1_ps(x); }
  static Type load(const float* p) { return _mm256_loadu_ps(p); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  static void store(float* p, Type x) { _mm256_storeu_ps(p, x); }
};
template <>
struct Ymm<double> {
  using Type = __m256d;
  static Type set(double x) { return _mm256_set1_pd(x); }
  static Type load(const double* p) { return _mm256_loadu_pd(p); }
  static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  static void store(double* p, Type x) { _mm256_storeu_pd(p, x); }
};

template <typename T>
T chunk_value(const T* a, const T* b, std::int64_t count) {
  using Vector = Ymm<T>;
  constexpr int kWidth = 32 / sizeof(T), kVectors = kLanes / kWidth;
  alignas(64) T lanes[kLanes];
  const std::int64_t whole = count / kLanes * kLanes;
  if (whole > 0) {
    typename Vector::Type sums[kVectors];
    for (auto& sum : sums) sum = Vector::set(static_cast<T>(order::kSumIdentity));
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = Vector::fma(Vector::load(a + i + v * kWidth), Vector::load(b + i + v * kWidth),
                              sums[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) Vector::store(lanes + v * kWidth, sums[v]);
  } else {
    std::fill_n(lanes, kLanes, static_cast<T>(order::kSumIdentity));
  }
  for (std::int64_t i = whole; i < count; ++i) {
    lanes[i - whole] = std::fma(a[i], b[i], lanes[i - whole]);
  }
  for (std::int64_t half = kLanes / 2; half >= 1; half /= 2) {
    for (std::int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

template <typename T>
T value_of(const T* a, const T* b, std::int64_t k) {
  if (k == 0) return static_cast<T>(order::kEmptySum);
  T stack[64];
  int depth = 0;
  for (std::int64_t c = 0, begin = 0; begin < k; ++c, begin += order::kRowChunk) {
    T value = chunk_value(a + begin, b + begin, std::min(order::kRowChunk, k - begin));
    for (std::int64_t bits = c; bits & 1; bits >>= 1) value = stack[--depth] + value;
    stack[depth++] = value;
  }
  T value = stack[--depth];
  while (depth > 0) value = stack[--depth] + value;
  return value;
}

}  // namespace

float dot_row_order(const float* a, const float* b, std::int64_t k) { return value_of(a, b, k); }
double dot_row_order(const double* a, const double* b, std::int64_t k) { return value_of(a, b, k); }

}  // namespace groove::kernels
