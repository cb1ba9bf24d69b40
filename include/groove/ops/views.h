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
Tensor squeeze(Arg self, IntArrayRef dims);
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
/// The same from a 0-d tensor of whole numbers, which is waited for.
Tensor narrow(Arg self, std::int64_t dim, const Tensor& start, std::int64_t length);
/// The slice at `index`, without the axis.
Tensor select(Arg self, std::int64_t dim, std::int64_t index);
/// Axes of size 1 repeated without a copy; -1 keeps a size; new axes go in front.
Tensor expand(Arg self, IntArrayRef size);
/// The elements whose last index of the two axes differs by offset, as a last axis; a view.
Tensor diagonal(Arg self, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
/// Pieces of split_size (the last may be smaller), of the given sizes, or `chunks` of equal size.
std::vector<Tensor> split(Arg self, std::int64_t split_size, std::int64_t dim = 0);
std::vector<Tensor> split(Arg self, IntArrayRef split_sizes, std::int64_t dim = 0);
std::vector<Tensor> split_with_sizes(Arg self, IntArrayRef split_sizes, std::int64_t dim = 0);
std::vector<Tensor> chunk(Arg self, std::int64_t chunks, std::int64_t dim = 0);
/// The slices along `dim`, without the axis.
std::vector<Tensor> unbind(Arg self, std::int64_t dim = 0);
/// Axis `dim` becomes several of the given sizes (one may be -1).
Tensor unflatten(Arg self, std::int64_t dim, IntArrayRef sizes);
Tensor movedim(Arg self, std::int64_t source, std::int64_t destination);
Tensor movedim(Arg self, IntArrayRef source, IntArrayRef destination);
Tensor swapaxes(Arg self, std::int64_t axis0, std::int64_t axis1);
Tensor broadcast_to(Arg self, IntArrayRef size);
std::vector<Tensor> broadcast_tensors(TensorList tensors, Site site = Site::current());
std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing = "ij",
                             Site site = Site::current());

// Copies.
/// self repeated as often along each axis; new axes go in front.
Tensor repeat(Arg self, IntArrayRef repeats);
Tensor tile(Arg self, IntArrayRef dims);
/// Each slice along `dim` (of the flattened tensor without one) `repeats` times in a row.
Tensor repeat_interleave(Arg self, std::int64_t repeats,
                         std::optional<std::int64_t> dim = std::nullopt,
                         std::optional<std::int64_t> output_size = std::nullopt);
/// Each slice as often as its element of `repeats` (whole numbers) says, which is waited for.
Tensor repeat_interleave(Arg self, const Tensor& repeats,
                         std::optional<std::int64_t> dim = std::nullopt,
                         std::optional<std::int64_t> output_size = std::nullopt);
/// The positions 0, 1, .. each as often as its element says.
Tensor repeat_interleave(Arg repeats, std::optional<std::int64_t> output_size = std::nullopt);
/// Elements in reverse order along the axes.
Tensor flip(Arg self, IntArrayRef dims);
/// Elements moved by shifts along the axes (of the flattened tensor without axes), those that leave
/// coming back at the other end.
Tensor roll(Arg self, IntArrayRef shifts, IntArrayRef dims = {});
/// `pad` holds pairs (before, after) from the last axis on; negative ones cut.
Tensor constant_pad_nd(Arg self, IntArrayRef pad, Scalar value = 0);
/// mode is "constant", "reflect", "replicate" or "circular".
Tensor pad(Arg self, IntArrayRef pad, std::string_view mode = "constant",
           std::optional<Scalar> value = std::nullopt);
/// The elements on and below (above) the diagonal; 0 elsewhere.
Tensor tril(Arg self, std::int64_t diagonal = 0);
Tensor triu(Arg self, std::int64_t diagonal = 0);
/// A matrix with self (1-d) on a diagonal, or the diagonal of a matrix.
Tensor diag(Arg self, std::int64_t diagonal = 0);

/// The tensors one after the other along `dim`; all other sizes must agree, dtypes promote.
/// 1-d tensors without elements are skipped, as in LibTorch.
Tensor cat(TensorList tensors, std::int64_t dim = 0, Site site = Site::current());
/// As cat, along a new axis.
Tensor stack(TensorList tensors, std::int64_t dim = 0, Site site = Site::current());
inline Tensor concat(TensorList tensors, std::int64_t dim = 0, Site site = Site::current()) {
  return cat(tensors, dim, site);
}

/// Joined along the second axis (the first of 1-d tensors), the first, or the third; tensors of
/// fewer axes first become rows.
Tensor hstack(TensorList tensors, Site site = Site::current());
Tensor vstack(TensorList tensors, Site site = Site::current());
Tensor dstack(TensorList tensors, Site site = Site::current());
inline Tensor row_stack(TensorList tensors, Site site = Site::current()) {
  return vstack(tensors, site);
}
/// 1-d tensors become columns of one matrix, matrices stand side by side.
Tensor column_stack(TensorList tensors, Site site = Site::current());
/// At least that many axes, as views.
Tensor atleast_1d(Arg self);
Tensor atleast_2d(Arg self);
Tensor atleast_3d(Arg self);
std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors, Site site = Site::current());
std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors, Site site = Site::current());
std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors, Site site = Site::current());

// Other names of the same.
inline Tensor concatenate(TensorList tensors, std::int64_t dim = 0, Site site = Site::current()) {
  return cat(tensors, dim, site);
}
inline Tensor swapdims(Arg self, std::int64_t dim0, std::int64_t dim1) {
  return transpose(self, dim0, dim1);
}
inline Tensor moveaxis(Arg self, std::int64_t source, std::int64_t destination) {
  return movedim(self, source, destination);
}
inline Tensor moveaxis(Arg self, IntArrayRef source, IntArrayRef destination) {
  return movedim(self, source, destination);
}
inline Tensor ravel(Arg self) { return flatten(self); }

}  // namespace groove
