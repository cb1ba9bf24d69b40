// Reading and writing at places given by index tensors and masks.
#pragma once

#include <vector>

#include "groove/tensor.h"
#include "src/core/tensor_impl.h"

namespace groove {

// An index tensor for the axes from `axis` on: one axis for integers, mask.dim() for a mask.
struct AxisIndex {
  std::int64_t axis;
  Tensor index;
};
using IndexTensors = std::vector<AxisIndex>;

/// Throws groove::Error when the mask's shape is not that of the axes it covers.
void check_mask(const Tensor& x, const AxisIndex& mask);

/// LibTorch's advanced indexing: index tensors broadcast against each other; their shape takes the
/// place of the indexed axes when these are adjacent, otherwise comes first. Differentiable.
Tensor read_at(const Tensor& x, const IndexTensors& indices);

/// x[indices] = value, the last of equal places staying; or x[indices] += value, where values of
/// equal places add up. Differentiable.
void write_at(const Tensor& x, const IndexTensors& indices, const Tensor& value,
              bool accumulate = false);

/// Row-major positions (i64) of the elements that are not 0; reads the values on the host.
Tensor selected_positions(const Tensor& mask, Site site);
/// Another handle, of another tensor, over all elements. Differentiable.
Tensor alias(const Tensor& self, Site site);

/// The values as an i64 tensor.
Tensor index_list(const std::vector<std::int64_t>& values);

}  // namespace groove
