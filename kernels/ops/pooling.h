// Windows of pools over the last two axes of [N, C, H, W], and walking them fast.
#pragma once

#include <algorithm>

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/pooled.h"

namespace groove {

// What both kinds of pools are described by; lists are for (height, width). Adaptive windows
// follow from the sizes alone: output o reads [floor(o in / out), ceil((o + 1) in / out)).
struct PoolAttrs {
  Shape kernel, stride, padding, dilation, output;
  bool is_adaptive = false;
};
enum { kPoolKernel, kPoolStride, kPoolPadding, kPoolDilation, kPoolOutput, kPoolAdaptive };
std::vector<AttrField> pool_attributes();  // further ones follow these
Attrs add_pool(const PoolAttrs& pool);
PoolAttrs pool_attrs(const AttrReader& attr);

/// From a user's arguments, checked; `rank` of the input is that of one image or of a batch.
PoolAttrs pool_of(const char* op, IntArrayRef input_sizes, IntArrayRef kernel, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
PoolAttrs adaptive_pool_of(const char* op, IntArrayRef input_sizes, IntArrayRef output_size);
/// The result's shape for an input [N, C, H, W]. The windows must fit `image`, by default [H, W].
Shape pooled_sizes(const Signature& signature, IntArrayRef image = {});
/// [N, C, H, W] from an image, or from a line (axes = 1), and back.
Tensor as_images(Arg input, std::size_t axes);
Tensor from_images(const Tensor& pooled, const Tensor& input, std::size_t axes, Site site);

struct PoolWindow {
  std::int64_t first, count;  // positions first, first + dilation, …
};
// One axis of a pool.
struct PoolAxis {
  PoolAxis(const PoolAttrs& pool, std::size_t axis, std::int64_t in);
  PoolWindow window(std::int64_t o) const;
  /// Positions of the window that lie in the input or its padding.
  std::int64_t padded_count(std::int64_t o) const;

  std::int64_t in, out, kernel, stride, padding, dilation;
  bool is_adaptive;
};

// Calls step(o, position) for every position of every window, ascending in each window: tap by tap
// over all outputs, so that the loop inside is one over neighbours.
template <typename Step>
void walk_windows(const PoolAxis& axis, const PooledVector<PoolWindow>& windows, const Step& step) {
  const auto run = [&](auto stride) {
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const std::int64_t offset = tap * axis.dilation - axis.padding;
      std::int64_t begin = 0, end = axis.out;
      while (begin < end && begin * stride + offset < 0) ++begin;
      while (end > begin && (end - 1) * stride + offset >= axis.in) --end;
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
      for (std::int64_t o = begin; o < end; ++o) step(o, o * stride + offset);
    }
  };
  if (!axis.is_adaptive && axis.stride == 1) {
    run(std::integral_constant<std::int64_t, 1>());
  } else if (!axis.is_adaptive && axis.stride == 2) {
    run(std::integral_constant<std::int64_t, 2>());
  } else {
    for (std::int64_t o = 0; o < axis.out; ++o) {
      const PoolWindow& window = windows[static_cast<std::size_t>(o)];
      for (std::int64_t t = 0; t < window.count; ++t) step(o, window.first + t * axis.dilation);
    }
  }
}
PooledVector<PoolWindow> windows_of(const PoolAxis& axis);

/// The planes of [N, C, …] that one part does.
struct PlaneRange {
  std::int64_t begin, end;
};
PlaneRange planes_of(const Shape& sizes, int part, int parts);

/// Samples of a pool; `finish` adds an op's further attributes.
std::vector<Sample> pool_samples(ScalarType dtype, bool allows_dilation,
                                 const std::function<Attrs(Attrs)>& finish);

}  // namespace groove
