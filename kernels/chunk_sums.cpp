// A chunk is summed from its first element to its last, so chunks are what is done at once: those
// beside each other are the rows of a matrix that is transposed in registers on its way.
#include "kernels/chunk_sums.h"

#include <algorithm>

#include "kernels/contraction/transposed_tile.h"
#include "kernels/order.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kChunk = order::kColumnChunk;

inline __m256 all(float x) { return _mm256_set1_ps(x); }
inline __m256d all(double x) { return _mm256_set1_pd(x); }
inline __m256 sum(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
inline __m256d sum(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }
inline void store(float* to, __m256 x) { _mm256_storeu_ps(to, x); }
inline void store(double* to, __m256d x) { _mm256_storeu_pd(to, x); }

// Of kGroups vectors of chunks.
template <int kGroups, typename T>
void sum_chunks(const T* from, T* sums) {
  constexpr std::int64_t kWidth = 32 / sizeof(T);
  using Vector = decltype(all(T()));
  Vector chains[kGroups];
  for (Vector& chain : chains) chain = all(static_cast<T>(order::kSumIdentity));
  for (std::int64_t i = 0; i < kChunk; i += 4) {
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      Vector steps[4];
      transpose_half(from + g * kWidth * kChunk + i, kChunk, steps);
#pragma GCC unroll 4
      for (const Vector& step : steps) chains[g] = sum(chains[g], step);
    }
  }
  for (int g = 0; g < kGroups; ++g) store(sums + g * kWidth, chains[g]);
}

}  // namespace

template <typename T>
void chunk_sums(const T* first, const Column& column, T* sums) {
  constexpr std::int64_t kWidth = 32 / sizeof(T);
  const std::int64_t rows = column.outer * column.inner;
  for (std::int64_t row = 0; row < rows;) {
    const std::int64_t at = row % column.inner;
    const T* const from = first + row / column.inner * column.outer_stride + at;
    const std::int64_t whole = (column.inner - at) / kChunk;  // chunks beside each other
    if (row % kChunk == 0 && whole >= kWidth) {
      const bool is_wide = whole >= 2 * kWidth;
      if (is_wide)
        sum_chunks<2>(from, sums + row / kChunk);
      else
        sum_chunks<1>(from, sums + row / kChunk);
      row += (is_wide ? 2 : 1) * kWidth * kChunk;
      continue;
    }
    // One chunk, or what of it lies here.
    T& total = sums[row / kChunk];
    T chain = row % kChunk == 0 ? static_cast<T>(order::kSumIdentity) : total;
    const std::int64_t count = std::min(column.inner - at, kChunk - row % kChunk);
    for (std::int64_t i = 0; i < count; ++i) chain += from[i];
    total = chain;
    row += count;
  }
}

template void chunk_sums(const float*, const Column&, float*);
template void chunk_sums(const double*, const Column&, double*);

}  // namespace groove::kernels
