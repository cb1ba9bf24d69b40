// Reads and writes at indices held by a tensor (i64 or i32). An index out of range throws
// groove::Error at the call, naming value, position and bound.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// Slices of self along `dim` at the positions in `index` (1-d).
Tensor index_select(Arg self, std::int64_t dim, const Tensor& index);
/// out[.., i, ..] = self[.., index[.., i, ..], ..]; index has self's rank and no larger sizes
/// outside `dim`.
Tensor gather(Arg self, std::int64_t dim, const Tensor& index);
/// self with source's slices added at the positions in `index`, in ascending source order.
Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// self with source[.., i, ..] added at index[.., i, ..]; the counterpart of gather.
Tensor scatter_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// i64 tensor [..., num_classes] with a 1 at each class; -1 takes the greatest class plus one.
Tensor one_hot(Arg self, std::int64_t num_classes = -1);

}  // namespace groove
