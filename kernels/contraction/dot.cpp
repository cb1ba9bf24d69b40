// Row order over products: 32 lanes in vector registers, chunks of 4096, chunk values combined
// pairwise by index. Columns are taken a few at a time, so that the latency of one's additions
// hides behind another's.
#include "kernels/contraction/dot.h"

#include <algorithm>
#include <bit>

#include "kernels/contraction/ymm.h"
#include "kernels/order.h"

namespace groove::kernels {
namespace {

// Lanes at or behind `count` stay as they are: a product with nothing is not the identity.
__m256 fma_first(std::int64_t count, const float* a, const float* b, __m256 c) {
  const __m256i mask = Ymm<float>::mask(count);
  const __m256 sum = Ymm<float>::fma(_mm256_maskload_ps(a, mask), _mm256_maskload_ps(b, mask), c);
  return _mm256_blendv_ps(c, sum, _mm256_castsi256_ps(mask));
}
__m256d fma_first(std::int64_t count, const double* a, const double* b, __m256d c) {
  const __m256i mask = Ymm<double>::mask(count);
  const __m256d sum = Ymm<double>::fma(_mm256_maskload_pd(a, mask), _mm256_maskload_pd(b, mask), c);
  return _mm256_blendv_pd(c, sum, _mm256_castsi256_pd(mask));
}

// Lane j with lane j + W/2, and so on down to one.
float combine(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
double combine(__m256d x) {
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// The values of one chunk of `kColumns` columns.
template <int kColumns, typename T>
void chunk_values(const T* a, const T* b, std::int64_t b_column, std::int64_t count, T* values) {
  using Vector = Ymm<T>;
  constexpr int kWidth = Vector::kLanes, kVectors = static_cast<int>(order::kRowLanes) / kWidth;
  typename Vector::Type sums[kColumns][kVectors];
  for (auto& column : sums) {
    for (auto& sum : column) sum = Vector::set(static_cast<T>(order::kSumIdentity));
  }
  std::int64_t i = 0;
  for (; i + order::kRowLanes <= count; i += order::kRowLanes) {
    for (int v = 0; v < kVectors; ++v) {
      const auto x = Vector::load(a + i + v * kWidth);
      for (int j = 0; j < kColumns; ++j) {
        sums[j][v] = Vector::fma(x, Vector::load(b + j * b_column + i + v * kWidth), sums[j][v]);
      }
    }
  }
  for (int v = 0; v < kVectors && i < count; ++v, i += kWidth) {
    for (int j = 0; j < kColumns; ++j) {
      const T* column = b + j * b_column + i;
      sums[j][v] = i + kWidth <= count
                       ? Vector::fma(Vector::load(a + i), Vector::load(column), sums[j][v])
                       : fma_first(count - i, a + i, column, sums[j][v]);
    }
  }
  for (int half = kVectors / 2; half >= 1; half /= 2) {
    for (int v = 0; v < half; ++v) {
      for (auto& column : sums) column[v] = Vector::add(column[v], column[v + half]);
    }
  }
  for (int j = 0; j < kColumns; ++j) values[j] = combine(sums[j][0]);
}

template <int kColumns, typename T>
void columns(const T* a, const T* b, std::int64_t b_column, std::int64_t k, T* sums) {
  if (k <= order::kRowChunk) return chunk_values<kColumns>(a, b, b_column, k, sums);
  T stack[64][kColumns];
  int depth = 0;
  const auto join = [&] {
    --depth;
    for (int j = 0; j < kColumns; ++j) stack[depth - 1][j] += stack[depth][j];
  };
  for (std::int64_t c = 0, begin = 0; begin < k; ++c, begin += order::kRowChunk) {
    chunk_values<kColumns>(a + begin, b + begin, b_column, std::min(order::kRowChunk, k - begin),
                           stack[depth++]);
    for (int merges = std::countr_one(static_cast<std::uint64_t>(c)); merges > 0; --merges) join();
  }
  while (depth > 1) join();
  std::copy_n(stack[0], kColumns, sums);
}

template <typename T>
void all_columns(const T* a, const T* b, std::int64_t b_column, std::int64_t n, std::int64_t k,
                 T* sums) {
  // Eight accumulators: f64 fills them with one column.
  constexpr int kAtOnce = sizeof(T) == 4 ? 2 : 1;
  if (k == 0) {
    std::fill_n(sums, n, static_cast<T>(order::kEmptySum));
    return;
  }
  std::int64_t j = 0;
  for (; j + kAtOnce <= n; j += kAtOnce) {
    columns<kAtOnce>(a, b + j * b_column, b_column, k, sums + j);
  }
  for (; j < n; ++j) columns<1>(a, b + j * b_column, b_column, k, sums + j);
}

}  // namespace

void dot_row_order(const float* a, const float* b, std::int64_t b_column, std::int64_t n,
                   std::int64_t k, float* sums) {
  all_columns(a, b, b_column, n, k, sums);
}
void dot_row_order(const double* a, const double* b, std::int64_t b_column, std::int64_t n,
                   std::int64_t k, double* sums) {
  all_columns(a, b, b_column, n, k, sums);
}

}  // namespace groove::kernels
