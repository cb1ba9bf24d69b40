// Shapes: other geometries over the same storage (no copy), and joining tensors (a copy).
// Negative axes count from the end; an axis out of range throws groove::Error.
#pragma once

#include <optional>

#include "groove/tensor.h"

namespace groove {

/// The same elements in another shape (one size may be -1). A copy when strides do not allow a
/// view; the method view() throws instead.
Tensor reshape(Arg self, IntArrayRef shape);
/// Axes start_dim … end_dim become one.
Tensor flatten(Arg self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
/// A new axis of size 1 before axis `dim`.
Tensor unsqueeze(Arg self, std::int64_t dim);
/// Without axes of size 1 (all, or `dim` if its size is 1).
Tensor squeeze(Arg self);
Tensor squeeze(Arg self, std::int64_t dim);
/// Axis i of the result is axis dims[i] of self.
Tensor permute(Arg self, IntArrayRef dims);
Tensor transpose(Arg self, std::int64_t dim0, std::int64_t dim1);
/// Transpose of a matrix; at most 2 axes.
Tensor t(Arg self);
/// Elements start, start + step … below end along `dim`; positions are clamped to the axis.
Tensor slice(Arg self, std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
             std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
/// `length` elements from `start` on; throws when they do not exist.
Tensor narrow(Arg self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// The slice at `index`, without the axis.
Tensor select(Arg self, std::int64_t dim, std::int64_t index);
/// Axes of size 1 repeated without a copy; -1 keeps a size; new axes go in front.
Tensor expand(Arg self, IntArrayRef size);

/// The tensors one after the other along `dim`; all other sizes must agree, dtypes promote.
/// 1-d tensors without elements are skipped, as in LibTorch.
Tensor cat(TensorList tensors, std::int64_t dim = 0, Site site = Site::current());
/// As cat, along a new axis.
Tensor stack(TensorList tensors, std::int64_t dim = 0, Site site = Site::current());

}  // namespace groove
