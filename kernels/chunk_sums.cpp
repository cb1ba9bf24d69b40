// A chunk is summed from its first element to its last, so chunks are what is done at once: those
// beside each other are the rows of a matrix that is transposed in registers on its way.
#include "kernels/chunk_sums.h"

#include <algorithm>

#include "kernels/contraction/transposed_tile.h"
#include "kernels/contraction/ymm.h"
#include "kernels/order.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kChunk = order::kColumnChunk;

// Of kGroups vectors of chunks.
template <int kGroups, typename T>
void sum_chunks(const T* from, T* sums) {
  using Vector = typename Ymm<T>::Type;
  constexpr std::int64_t kWidth = Ymm<T>::kLanes;
  Vector chains[kGroups];
  for (Vector& chain : chains) chain = Ymm<T>::set(static_cast<T>(order::kSumIdentity));
  for (std::int64_t i = 0; i < kChunk; i += 4) {
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      Vector steps[4];
      transpose_half(from + g * kWidth * kChunk + i, kChunk, steps);
#pragma GCC unroll 4
      for (const Vector& step : steps) chains[g] = Ymm<T>::add(chains[g], step);
    }
  }
  for (int g = 0; g < kGroups; ++g) Ymm<T>::store(sums + g * kWidth, chains[g]);
}

}  // namespace

template <typename T>
void chunk_sums(const T* first, const Column& column, T* sums) {
  constexpr std::int64_t kWidth = Ymm<T>::kLanes;
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
