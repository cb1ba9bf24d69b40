// What the average pool and its gradient share.
#pragma once

#include "kernels/ops/pooling.h"

namespace groove {

// After the attributes of every pool. A divisor of 0: the number of elements.
enum { kPoolCountsPadding = kPoolAdaptive + 1, kPoolDivisor, kPoolInput };

/// What the sum of each window of one axis counts for the divisor.
std::vector<std::int64_t> window_counts(const PoolAxis& axis, bool counts_padding);
/// The gradient of average_pool2d for an input [N, C, H, W] of shape `sizes`.
Tensor average_pool2d_backward(const Tensor& grad, const Attrs& attrs, IntArrayRef sizes);
Tensor average_pool2d(const Tensor& input, const Attrs& attrs);
std::vector<AttrField> average_pool_attributes();
std::vector<Sample> average_pool_samples(ScalarType dtype);

}  // namespace groove
