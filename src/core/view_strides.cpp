#include "src/core/view_strides.h"

namespace groove {

// Axes of the input that lie densely inside each other form a run, and a run can be split in any
// way.
std::optional<Shape> view_strides(const Geometry& input, IntArrayRef sizes) {
  const Shape &old_sizes = input.sizes, &old_strides = input.strides;
  if (element_count(old_sizes) == 0) return contiguous_strides(sizes);
  Shape strides(sizes.size(), 1);
  std::size_t left = sizes.size();  // axes of the result that are still open
  std::int64_t run = 1, step = old_strides.empty() ? 1 : old_strides.back();
  for (std::size_t axis = old_sizes.size(); axis-- > 0;) {
    run *= old_sizes[axis];
    const bool ends_run =
        axis == 0 || (old_sizes[axis - 1] != 1 && old_strides[axis - 1] != run * step);
    if (!ends_run) continue;
    std::int64_t covered = 1;
    while (left > 0 && (covered < run || sizes[left - 1] == 1)) {
      --left;
      strides[left] = covered * step;
      covered *= sizes[left];
    }
    if (covered != run) return std::nullopt;
    if (axis > 0) {
      step = old_strides[axis - 1];
      run = 1;
    }
  }
  if (left > 0) {
    for (std::size_t axis = 0; axis < left; ++axis) {
      if (sizes[axis] != 1) return std::nullopt;
    }
  }
  return strides;
}

}  // namespace groove
