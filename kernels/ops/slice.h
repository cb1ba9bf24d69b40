// The two ops that slices need, for the files that use them inside gradients.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

/// `length` elements of `dim` (non-negative) at start, start + step, …; nothing is clamped.
Tensor slice_exact(const Tensor& self, std::int64_t dim, Scalar start, std::int64_t length,
                   std::int64_t step, Site site = Site::current());
/// Zeros of shape `sizes` in which slice_exact would read `grad`.
Tensor place_slice(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, Scalar start,
                   std::int64_t step, Site site = Site::current());

}  // namespace groove
