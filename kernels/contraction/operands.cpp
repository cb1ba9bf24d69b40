#include "kernels/contraction/operands.h"

#include "src/core/check.h"

namespace groove::kernels {
namespace {

// The strides of the batch axes of an operand seen in the result's batch shape, and whether they
// collapse to one axis.
bool collapse_batch(IntArrayRef sizes, IntArrayRef strides, IntArrayRef batch_sizes,
                    std::int64_t& batch_stride) {
  std::int64_t stride = 0, covered = 1;
  bool has_axis = false;
  const std::size_t lead = batch_sizes.size() - sizes.size();
  for (std::size_t from_end = batch_sizes.size(); from_end-- > 0;) {
    if (batch_sizes[from_end] == 1) continue;
    const bool is_there = from_end >= lead && sizes[from_end - lead] != 1;
    const std::int64_t own = is_there ? strides[from_end - lead] : 0;
    if (!has_axis) {
      stride = own;
      has_axis = true;
    } else if (own != stride * covered) {
      return false;
    }
    covered *= batch_sizes[from_end];
  }
  batch_stride = stride;
  return true;
}

Layout layout(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
              std::int64_t column_stride) {
  if (column_stride == 1 || columns == 1) return Layout::kRowMajor;
  if (row_stride == 1 || rows == 1) return Layout::kColumnMajor;
  return Layout::kStrided;
}

}  // namespace

ContractionOperands contraction_operands(const ContractionLowering& how, const Geometry& a,
                                         const Geometry& b, const Shape& out_sizes) {
  ContractionOperands result;
  ContractionShape& shape = result.shape;
  const std::size_t a_rank = a.sizes.size(), b_rank = b.sizes.size();
  // b is [..., k, n], or [n, k] for linear, or [k].
  if (b_rank == 1) {
    shape.k = b.sizes[0];
    shape.n = 1;
    shape.b_row = b.strides[0];
    shape.b_col = 1;
  } else {
    const std::size_t k_axis = how.transpose_b ? b_rank - 1 : b_rank - 2;
    const std::size_t n_axis = how.transpose_b ? b_rank - 2 : b_rank - 1;
    shape.k = b.sizes[k_axis];
    shape.n = b.sizes[n_axis];
    shape.b_row = b.strides[k_axis];
    shape.b_col = b.strides[n_axis];
  }
  shape.a_col = a.strides[a_rank - 1];
  if (b_rank <= 2) {
    // One matrix on the right: all leading axes of a are rows, when memory walks them as one.
    std::int64_t row_stride = shape.k;
    shape.m = 1;
    bool has_axis = false;
    for (std::size_t axis = a_rank - 1; axis-- > 0;) {
      if (a.sizes[axis] != 1 && !has_axis) {
        row_stride = a.strides[axis];
        has_axis = true;
      } else if (a.sizes[axis] != 1 && a.strides[axis] != row_stride * shape.m) {
        result.copy_a = true;
      }
      shape.m *= a.sizes[axis];
    }
    shape.a_row = row_stride;
  } else {
    const bool a_has_rows = a_rank >= 2;
    shape.m = a_has_rows ? a.sizes[a_rank - 2] : 1;
    shape.a_row = a_has_rows ? a.strides[a_rank - 2] : shape.k;
    const std::size_t batch_axes = out_sizes.size() - (a_has_rows ? 2 : 1);
    const IntArrayRef batch(out_sizes.data(), batch_axes);
    shape.batch = element_count(batch);
    const std::size_t a_batch = a_rank > 2 ? a_rank - 2 : 0;
    result.copy_a = !collapse_batch(IntArrayRef(a.sizes.data(), a_batch),
                                    IntArrayRef(a.strides.data(), a_batch), batch, shape.a_batch);
    result.copy_b =
        !collapse_batch(IntArrayRef(b.sizes.data(), b_rank - 2),
                        IntArrayRef(b.strides.data(), b_rank - 2), batch, shape.b_batch);
  }
  result.order = order_class(shape.m, shape.n, shape.k);
  result.a = layout(shape.m, shape.k, shape.a_row, shape.a_col);
  result.b = layout(shape.k, shape.n, shape.b_row, shape.b_col);
  return result;
}

}  // namespace groove::kernels
