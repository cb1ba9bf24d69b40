// Parts of tensors and other orders of their elements: more views, pieces, and copies with a part
// written anew. Negative axes count from the end; an axis out of range throws groove::Error.
#pragma once

#include <string_view>

#include "groove/indexing.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"

namespace groove {

/// The last two axes exchanged (a view), of at least 2.
Tensor adjoint(Arg self);
/// The second axis (the first) in reverse order.
Tensor fliplr(Arg self);
Tensor flipud(Arg self);
/// Turned by k quarters from the first of two axes towards the second.
Tensor rot90(Arg self, std::int64_t k = 1, IntArrayRef dims = {0, 1});
/// As many pieces, whose sizes differ by 1 at the most and the first ones are greater; or the
/// pieces between positions. Views.
std::vector<Tensor> tensor_split(Arg self, std::int64_t sections, std::int64_t dim = 0);
std::vector<Tensor> tensor_split(Arg self, IntArrayRef indices, std::int64_t dim = 0);
/// Sections (0-d) or positions (1-d) that a tensor of i64 holds, which is waited for.
std::vector<Tensor> tensor_split(Arg self, const Tensor& indices_or_sections, std::int64_t dim = 0);
/// The same along the second axis (the first of a 1-d tensor), the first, and the third; the number
/// of pieces must divide the size.
std::vector<Tensor> hsplit(Arg self, std::int64_t sections);
std::vector<Tensor> hsplit(Arg self, IntArrayRef indices);
std::vector<Tensor> vsplit(Arg self, std::int64_t sections);
std::vector<Tensor> vsplit(Arg self, IntArrayRef indices);
std::vector<Tensor> dsplit(Arg self, std::int64_t sections);
std::vector<Tensor> dsplit(Arg self, IntArrayRef indices);
/// Matrices (axes dim1 and dim2 of the result) with the last axis of self on a diagonal.
Tensor diag_embed(Arg self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// A matrix with all elements of self on a diagonal.
Tensor diagflat(Arg self, std::int64_t offset = 0);
/// Matrices along the diagonal of one, in which the rest is 0; dtypes promote.
Tensor block_diag(TensorList tensors, Site site = Site::current());
/// All tuples of one element of each 1-d tensor: [count, tensors].
Tensor cartesian_prod(TensorList tensors, Site site = Site::current());
/// All subsets of r elements of a 1-d tensor: [count, r].
Tensor combinations(Arg self, std::int64_t r = 2, bool with_replacement = false);

/// self with src in place of a slice, of a part of an axis, or of a diagonal; src has its shape.
Tensor select_scatter(Arg self, const Tensor& src, std::int64_t dim, std::int64_t index);
Tensor slice_scatter(Arg self, const Tensor& src, std::int64_t dim = 0,
                     std::optional<std::int64_t> start = std::nullopt,
                     std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
Tensor diagonal_scatter(Arg self, const Tensor& src, std::int64_t offset = 0, std::int64_t dim1 = 0,
                        std::int64_t dim2 = 1);

/// Elements at positions in the flattened tensor; negative ones count from the end.
Tensor take(Arg self, const Tensor& index);
/// gather with indices that broadcast against self except along dim; without dim both are
/// flattened.
Tensor take_along_dim(Arg self, const Tensor& indices,
                      std::optional<std::int64_t> dim = std::nullopt);
/// self with values at the places that the indices name, broadcast against each other; with
/// `accumulate` they are added.
Tensor index_put(Arg self, std::initializer_list<TensorIndex> indices, const Tensor& values,
                 bool accumulate = false);
Tensor index_put(Arg self, ArrayRef<TensorIndex> indices, const Tensor& values,
                 bool accumulate = false);
/// self with source's elements at positions in the flattened tensor.
Tensor put(Arg self, const Tensor& index, const Tensor& source, bool accumulate = false);
/// self with the first elements of source, in order, where mask (bool, broadcast) is set.
Tensor masked_scatter(Arg self, const Tensor& mask, const Tensor& source);
/// scatter whose elements are added to ("add") or multiplied with ("multiply") what is there.
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
               std::string_view reduce);
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, Scalar value,
               std::string_view reduce);
/// self with all source elements that an index sends to one place brought together there: reduce is
/// "sum", "prod", "mean", "amax" or "amin"; without include_self what was there does not count.
Tensor scatter_reduce(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self = true);
/// The same with slices of source and a 1-d index; "prod", "mean", "amax" or "amin".
Tensor index_reduce(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self = true);
/// self with each slice along dim scaled down to a p-norm of maxnorm where it has more.
Tensor renorm(Arg self, Scalar p, std::int64_t dim, Scalar maxnorm);
/// Sorted along the first axis.
Tensor msort(Arg self);
/// The sum of the diagonal of a matrix.
Tensor trace(Arg self);
inline Tensor argwhere(Arg self) { return nonzero(self); }

/// Element i, j, … is the one `storage_offset` + i * stride[0] + j * stride[1] + … elements into
/// the memory that self fills without gaps, in any order of its axes; a view. storage_offset counts
/// from the storage's begin, and is self's if not given. groove::Error for elements that are not
/// self's.
Tensor as_strided(Arg self, IntArrayRef size, IntArrayRef stride,
                  std::optional<std::int64_t> storage_offset = std::nullopt);

}  // namespace groove
