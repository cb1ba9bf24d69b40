// Reads and writes at indices held by a tensor (i64 or i32). An index out of range throws
// groove::Error at the call, naming value, position and bound.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// Slices of self along `dim` at the positions in `index` (1-d).
Tensor index_select(Arg self, std::int64_t dim, const Tensor& index);
/// out[.., i, ..] = self[.., index[.., i, ..], ..]; index has self's rank and no larger sizes
/// outside `dim`.
Tensor gather(Arg self, std::int64_t dim, const Tensor& index, bool sparse_grad = false);
/// self with source's slices added at the positions in `index`, in ascending source order.
Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha);
/// self with source[.., i, ..] added at index[.., i, ..]; the counterpart of gather.
Tensor scatter_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// self with source's elements (or the value) at index[.., i, ..]; of several to one place the last
/// one wins.
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, Scalar value);
/// self with source's slices (or the value) at the positions in `index`; the last one wins.
Tensor index_copy(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_fill(Arg self, std::int64_t dim, const Tensor& index, Scalar value);
/// The value of a 0-d tensor.
Tensor index_fill(Arg self, std::int64_t dim, const Tensor& index, const Tensor& value);
/// Rows of weight [V, E] at indices of any shape: [..., E]. The row padding_idx gets no gradient;
/// with scale_grad_by_freq the others get the mean over their indices instead of the sum. The
/// gradient is dense, `sparse` or not.
Tensor embedding(Arg weight, const Tensor& indices, std::int64_t padding_idx = -1,
                 bool scale_grad_by_freq = false, bool sparse = false);
/// Sums (mode 0), means (1) or greatest elements (2) of the rows of weight [V, E] at the indices
/// [L] of each bag; bag b begins at offsets[b] and ends where the next one does, and an empty one
/// gives 0: [bags, E]. Besides the bag of each index, the number of indices in each bag, and (mode
/// 2) the index taken for each element. per_sample_weights [L] multiply rows (mode 0);
/// include_last_offset: the last offset is only an end; rows padding_idx count nothing.
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    Arg weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq = false,
    std::int64_t mode = 0, bool sparse = false, const Tensor& per_sample_weights = Tensor(),
    bool include_last_offset = false, std::optional<std::int64_t> padding_idx = std::nullopt);
/// The elements where mask (bool, broadcast) is set, 1-d. Waits for the mask.
Tensor masked_select(Arg self, const Tensor& mask);
/// The positions of elements that are not 0: [count, rank] (i64), row-major. Waits for self.
Tensor nonzero(Arg self);
/// The first `size` of them; where there are fewer, rows of fill_value follow.
Tensor nonzero_static(Arg self, std::int64_t size, std::int64_t fill_value = -1);
/// nonzero(condition), one tensor an axis.
std::vector<Tensor> where(Arg condition);
/// Values and positions (i64) along `dim` in ascending (descending) order. Equal ones keep their
/// order; NaN counts greatest.
std::tuple<Tensor, Tensor> sort(Arg self, std::int64_t dim = -1, bool descending = false);
Tensor argsort(Arg self, std::int64_t dim = -1, bool descending = false);
// Every sort is stable.
std::tuple<Tensor, Tensor> sort(Arg self, std::optional<bool> stable, std::int64_t dim,
                                bool descending = false);
Tensor argsort(Arg self, bool stable, std::int64_t dim, bool descending);
/// The k greatest (smallest) along `dim`, in order; of equal ones the first.
std::tuple<Tensor, Tensor> topk(Arg self, std::int64_t k, std::int64_t dim = -1,
                                bool largest = true, bool sorted = true);
/// i64 tensor [..., num_classes] with a 1 at each class; -1 takes the greatest class plus one.
Tensor one_hot(Arg self, std::int64_t num_classes = -1);

}  // namespace groove
