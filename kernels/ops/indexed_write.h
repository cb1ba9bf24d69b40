// The ops that write a source at the places an index names: one record maker for index_add,
// index_copy (a 1-d index of slices), scatter_add, scatter and scatter_reduce (an index of the
// source's shape).
#pragma once

#include "kernels/ops/indices.h"

namespace groove {

enum class Writing : std::uint8_t {
  kSlices,    // index [k]: slice i of the source goes to slice index[i]
  kElements,  // index of the source's shape: element by element
};
enum class Meeting : std::uint8_t {
  kAdds,  // in ascending source order, from the destination's value (numerics.md §5)
  kLast,  // of several sources the last one stays
  kMultiplies,
  kGreatest,  // of NaN and a number, NaN
  kLeast,
};

// Inputs self, index, source and attribute dim. `into_zeros`: inputs index and source, attributes
// dim and sizes, and zeros for self, which then are never made apart from the result.
struct IndexedWrite {
  const char* name;
  Writing writing;
  Meeting meeting;
  bool into_zeros = false;
  GradientRule gradient = {};
  ComplexRule complex = nullptr;
  bool saves_all = false;  // the gradient reads inputs and output, not the index alone
};
const Op& define(IndexedWrite spec);

/// The axis in [0, rank) of an op that needs one.
std::int64_t indexed_axis(const char* op, const Tensor& self, std::int64_t dim);
/// A 0-d index as one of one element.
Tensor as_list(const char* op, const Tensor& index, Site site);

/// index_add and scatter_add into zeros of shape `sizes`: the gradients of index_select and gather.
Tensor index_sum(const Tensor& index, const Tensor& source, std::int64_t dim, IntArrayRef sizes);
Tensor scatter_sum(const Tensor& index, const Tensor& source, std::int64_t dim, IntArrayRef sizes);

}  // namespace groove
