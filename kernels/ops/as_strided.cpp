// as_strided: any geometry over the memory that a tensor fills, as a chain of the views that there
// are: windows for a stride, expansion for none. So its gradient and its code are theirs.
#include <algorithm>
#include <numeric>

#include "groove/ops/parts.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"
#include "src/core/dispatch.h"

namespace groove {
namespace {

// The elements of `x` in the order of memory, [numel]; an error where there are gaps between them.
Tensor in_memory_order(const Tensor& x) {
  const Geometry& geometry = checked("as_strided", x).geometry;
  std::vector<std::int64_t> order(geometry.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return geometry.strides[static_cast<std::size_t>(a)] >
           geometry.strides[static_cast<std::size_t>(b)];
  });
  const Tensor sorted = x.permute(order);
  GROOVE_CHECK(sorted.is_contiguous(),
               "as_strided: shape {} with strides {} has gaps in its memory; take the tensor that "
               "it is a view of, or contiguous()",
               to_string(geometry.sizes), to_string(geometry.strides));
  return sorted.view({-1});
}

// How many elements lie from the first to the last that axes `axis` … reach.
std::int64_t reach(IntArrayRef size, IntArrayRef stride, std::size_t axis) {
  std::int64_t count = 1;
  for (std::size_t i = axis; i < size.size(); ++i) count += (size[i] - 1) * stride[i];
  return count;
}

}  // namespace

Tensor as_strided(Arg self, IntArrayRef size, IntArrayRef stride,
                  std::optional<std::int64_t> storage_offset) {
  const SiteScope scope(self.site);
  const Tensor& x = *self.tensor;
  const std::int64_t own = checked("as_strided", x).geometry.offset;
  GROOVE_CHECK(size.size() == stride.size(), "as_strided: {} sizes and {} strides", size.size(),
               stride.size());
  for (std::size_t i = 0; i < size.size(); ++i)
    GROOVE_CHECK(size[i] >= 0 && stride[i] >= 0,
                 "as_strided: size {} and stride {} of dim {}; neither may be negative", size[i],
                 stride[i], i);
  const Tensor all = in_memory_order(x);
  const std::int64_t start = storage_offset.value_or(own) - own;
  const bool is_empty = std::find(size.begin(), size.end(), 0) != size.end();
  const std::int64_t count = is_empty ? 0 : reach(size, stride, 0);
  GROOVE_CHECK(start >= 0 && count <= all.numel() - start,
               "as_strided: size {} and stride {} reach over elements {} to {} of the tensor's {}",
               to_string(size), to_string(stride), start, start + count, all.numel());
  if (is_empty) return all.narrow(0, 0, 0).view(size);
  Tensor result = all.narrow(0, start, count);
  for (std::size_t i = 0; i < size.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (stride[i] == 0 || size[i] == 1) {
      std::vector<std::int64_t> repeated(i + 2, -1);
      repeated[i] = size[i];
      result = result.unsqueeze(axis).expand(repeated);
    } else {
      result = result.unfold(axis, reach(size, stride, i + 1), stride[i]);
    }
  }
  return result.squeeze(-1);
}
Tensor PartMethods::as_strided(IntArrayRef size, IntArrayRef stride,
                               std::optional<std::int64_t> storage_offset, Site site) const {
  return groove::as_strided({self(), site}, size, stride, storage_offset);
}

}  // namespace groove
