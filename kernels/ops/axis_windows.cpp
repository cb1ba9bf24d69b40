#include "kernels/ops/axis_windows.h"

#include <algorithm>

#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/indexed_write.h"

namespace groove {
namespace {

// Where the elements of all windows lie in the padded axis, [kernel * count].
Tensor positions(const AxisWindows& windows, std::int64_t count) {
  const Tensor taps = arange(windows.kernel, kLong) * windows.dilation;
  const Tensor starts = arange(count, kLong) * windows.stride;
  return (taps.unsqueeze(1) + starts).reshape({windows.kernel * count});
}

}  // namespace

std::int64_t AxisWindows::count(std::int64_t size) const {
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Tensor unfolded(const Tensor& x, std::int64_t dim, const AxisWindows& windows) {
  Shape sizes = type_of(x).sizes;
  const auto axis = static_cast<std::size_t>(dim);
  const std::int64_t count = windows.count(sizes[axis]);
  Tensor padded = x;
  if (windows.padding > 0) {
    Shape around(2 * (sizes.size() - axis), 0);
    around[around.size() - 2] = around[around.size() - 1] = windows.padding;
    padded = constant_pad_nd(x, around);
  }
  const Tensor taken = index_select(padded, dim, positions(windows, count));
  sizes[axis] = windows.kernel;
  sizes.insert(axis + 1, count);
  return taken.view(sizes);
}

Tensor folded(const Tensor& columns, std::int64_t dim, const AxisWindows& windows,
              std::int64_t size) {
  const Shape own = type_of(columns).sizes;
  const auto axis = static_cast<std::size_t>(dim);
  const std::int64_t count = own[axis + 1];
  const std::int64_t reach =
      (count - 1) * windows.stride + windows.dilation * (windows.kernel - 1) + 1;
  Shape source, sums;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i == axis + 1) continue;
    source.push_back(i == axis ? own[i] * count : own[i]);
    sums.push_back(i == axis ? std::max(reach, windows.padding + size) : own[i]);
  }
  const Tensor sum = index_sum(positions(windows, count), columns.reshape(source), dim, sums);
  if (sums[axis] == size) return sum;
  return narrow(sum, dim, windows.padding, size).contiguous();
}

}  // namespace groove
