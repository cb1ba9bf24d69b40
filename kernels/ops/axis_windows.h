// Windows along one axis, laid out as an axis of their own: by this im2col and the convolutions
// over three axes are spelled, and by its transpose col2im and the transposed ones.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

struct AxisWindows {
  std::int64_t kernel, stride, padding, dilation;
  /// How many fit an axis of that size; at most 0 when none does.
  std::int64_t count(std::int64_t size) const;
};

/// Axis `dim` becomes [kernel, count]; what lies in the padding is 0.
Tensor unfolded(const Tensor& x, std::int64_t dim, const AxisWindows& windows);
/// Axes `dim` and `dim + 1`, [kernel, count], become one of `size`: sums of what windows share.
Tensor folded(const Tensor& columns, std::int64_t dim, const AxisWindows& windows,
              std::int64_t size);

}  // namespace groove
