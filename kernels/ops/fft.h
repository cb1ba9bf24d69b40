// The operators that torch::fft is spelled with, along the last axis of real tensors.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// [..., n, 2] to the same: sum over k of x[k] exp(-2 pi i j k / n), or + where not `forward`.
Tensor transform_pairs(const Tensor& pairs, bool forward);
/// Forward, [..., n] to the first half [..., n / 2 + 1, 2].
Tensor transform_real(const Tensor& values);
/// Back, from such a half [..., n / 2 + 1, 2] to [..., n].
Tensor transform_to_real(const Tensor& pairs, std::int64_t n);

}  // namespace groove
