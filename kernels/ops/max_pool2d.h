// The gradient of max_pool2d, for the file of the pool itself.
#pragma once

#include "kernels/ops/pooling.h"

namespace groove {

/// Zeros of shape `sizes` [N, C, H, W] with each element of `grad` [N, C, OH, OW] added at its
/// flat position in the plane, in ascending order.
Tensor max_pool2d_backward(const Tensor& grad, const Tensor& positions, IntArrayRef sizes);

}  // namespace groove
