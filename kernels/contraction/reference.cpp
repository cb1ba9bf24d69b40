// The reference contraction. Loops run over blocks of columns whose part of B is first copied
// k-major, so that the compiler vectorises across columns: each output element keeps its own
// chain, hence its bits.
#include "kernels/contraction/reference.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/contraction/epilogue.h"
#include "kernels/order.h"
#include "src/core/check.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kBlock = 64;  // columns that are computed together

// Integers wrap, so they are multiplied and added as unsigned numbers.
template <typename T>
T multiply_add(T a, T b, T sum) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fma(a, b, sum);
  } else {
    return static_cast<T>(std::uint64_t(a) * b + sum);
  }
}

// One row of A with a k-major block of B; sums[kBlock].
template <typename T>
void chain_row(const T* a, std::int64_t a_col, const T* b, std::int64_t k, T* sums) {
  std::fill_n(sums, kBlock, T(0));
  T chunk[kBlock];
  for (std::int64_t begin = 0; begin < k; begin += order::kContractionChunk) {
    const std::int64_t end = std::min(k, begin + order::kContractionChunk);
    std::fill_n(chunk, kBlock, T(0));
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = a[i * a_col];
      for (std::int64_t j = 0; j < kBlock; ++j) {
        chunk[j] = multiply_add(value, b[i * kBlock + j], chunk[j]);
      }
    }
    for (std::int64_t j = 0; j < kBlock; ++j) sums[j] = begin == 0 ? chunk[j] : sums[j] + chunk[j];
  }
}

// Row order (numerics.md §3) over products: the value of one chunk of at most kRowChunk elements.
template <typename T>
T dot_chunk(const T* a, std::int64_t a_col, const T* b, std::int64_t count) {
  T lanes[order::kRowLanes];
  std::fill_n(lanes, order::kRowLanes, static_cast<T>(order::kSumIdentity));
  for (std::int64_t i = 0; i < count; ++i) {
    T& lane = lanes[i % order::kRowLanes];
    lane = multiply_add(a[i * a_col], b[i * kBlock], lane);
  }
  for (std::int64_t half = order::kRowLanes / 2; half >= 1; half /= 2) {
    for (std::int64_t j = 0; j < half; ++j) lanes[j] = static_cast<T>(lanes[j] + lanes[j + half]);
  }
  return lanes[0];
}

template <typename T>
T dot(const T* a, std::int64_t a_col, const T* b, std::int64_t k) {
  if (k == 0) return static_cast<T>(order::kEmptySum);
  T stack[64];
  int depth = 0;
  for (std::int64_t c = 0; c * order::kRowChunk < k; ++c) {
    const std::int64_t begin = c * order::kRowChunk;
    T value = dot_chunk(a + begin * a_col, a_col, b + begin * kBlock,
                        std::min(order::kRowChunk, k - begin));
    for (std::int64_t bits = c; bits & 1; bits >>= 1) {
      value = static_cast<T>(stack[--depth] + value);
    }
    stack[depth++] = value;
  }
  T value = stack[--depth];
  while (depth > 0) value = static_cast<T>(stack[--depth] + value);
  return value;
}

class ReferenceContraction final : public ContractionCallable {
 public:
  ReferenceContraction(const Contraction& contraction, Backend& backend)
      : dtype_(contraction.dtype), order_(contraction.order), epilogue_(contraction, &backend) {}

  std::size_t scratch_bytes(const ContractionLaunch& launch, int) const override {
    return static_cast<std::size_t>((launch.shape.k + 1) * kBlock) * element_size(dtype_);
  }

  void run(const ContractionLaunch& launch, int part, int parts,
           void* scratch) const noexcept override {
    switch (dtype_) {
      case kFloat:
        return run_as<float>(launch, part, parts, scratch);
      case kDouble:
        return run_as<double>(launch, part, parts, scratch);
      case kInt:
        return run_as<std::uint32_t>(launch, part, parts, scratch);
      case kLong:
        return run_as<std::uint64_t>(launch, part, parts, scratch);
      case kShort:
        return run_as<std::uint16_t>(launch, part, parts, scratch);
      default:
        return run_as<std::uint8_t>(launch, part, parts, scratch);
    }
  }

 private:
  template <typename T>
  void run_as(const ContractionLaunch& launch, int part, int parts, void* scratch) const {
    const ContractionShape& s = launch.shape;
    const std::int64_t begin = s.m * part / parts, end = s.m * (part + 1) / parts;
    if (begin == end) return;
    T* sums = static_cast<T*>(scratch);
    T* panel = sums + kBlock;
    for (std::int64_t batch = 0; batch < s.batch; ++batch) {
      const T* a = static_cast<const T*>(launch.a) + batch * s.a_batch;
      const T* b = static_cast<const T*>(launch.b) + batch * s.b_batch;
      for (std::int64_t col = 0; col < s.n; col += kBlock) {
        const std::int64_t cols = std::min(kBlock, s.n - col);
        copy_columns(b + col * s.b_col, s, cols, panel);
        for (std::int64_t row = begin; row < end; ++row) {
          const T* a_row = a + row * s.a_row;
          if (order_ == OrderClass::kChain) {
            chain_row(a_row, s.a_col, panel, s.k, sums);
          } else {
            for (std::int64_t j = 0; j < cols; ++j) sums[j] = dot(a_row, s.a_col, panel + j, s.k);
          }
          epilogue_.run(launch, {sums, kBlock, batch, row, col, 1, cols});
        }
      }
    }
  }

  template <typename T>
  static void copy_columns(const T* b, const ContractionShape& s, std::int64_t cols, T* panel) {
    for (std::int64_t i = 0; i < s.k; ++i, panel += kBlock) {
      for (std::int64_t j = 0; j < cols; ++j) panel[j] = b[i * s.b_row + j * s.b_col];
      std::fill(panel + cols, panel + kBlock, T(0));
    }
  }

  ScalarType dtype_;
  OrderClass order_;
  Epilogue epilogue_;
};

}  // namespace

std::shared_ptr<const ContractionCallable> make_reference_contraction(
    const Contraction& contraction, Backend& kernel_backend) {
  GROOVE_ASSERT(contraction.dtype != kHalf && contraction.dtype != kBFloat16,
                "16-bit floats are widened before a contraction");
  return std::make_shared<ReferenceContraction>(contraction, kernel_backend);
}

}  // namespace groove::kernels
