// The pick of a class as an elementwise op, so that losses fuse into one row kernel.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

/// index [..., 1] -> bool [..., classes]: is the place along the last axis the index? Nothing is
/// checked; an index outside picks nothing.
Tensor class_mask(const Tensor& index, std::int64_t classes);

}  // namespace groove
