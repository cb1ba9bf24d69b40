// max_unpool2d and max_unpool3d: elements back at the positions that a pool took them from.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/pooling.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor unpooled(const char* name, const Tensor& self, const Tensor& indices,
                IntArrayRef output_size, std::size_t axes) {
  const Shape sizes = checked(name, self).geometry.sizes;
  GROOVE_CHECK(checked(name, indices).geometry.sizes == sizes && indices.scalar_type() == kLong,
               "{}: indices {} must be i64 in the shape of the input, {}", name,
               to_string(indices.sizes()), to_string(sizes));
  GROOVE_CHECK(sizes.size() == axes + 1 || sizes.size() == axes + 2,
               "{}: input {} must have {} dimensions, or {} for one image", name, to_string(sizes),
               axes + 2, axes + 1);
  GROOVE_CHECK(output_size.size() == axes, "{}: output_size {} must hold {} numbers", name,
               to_string(output_size), axes);
  Shape flat(sizes.size() - axes), result(sizes.size() - axes);
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = result[i] = sizes[i];
  std::int64_t count = 1, elements = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t in = sizes[sizes.size() - axes + i];
    GROOVE_CHECK(in > 0 && output_size[i] > 0, "{}: input {} and output_size {} must be positive",
                 name, to_string(sizes), to_string(output_size));
    count *= output_size[i];
    elements *= in;
    result.push_back(output_size[i]);
  }
  flat.push_back(count);
  const Tensor zeros = groove::zeros(flat, self.scalar_type());
  flat.back() = elements;
  const auto dim = static_cast<std::int64_t>(flat.size()) - 1;
  const Tensor at = indices.reshape(flat), x = self.reshape(flat);
  if (!self.requires_grad()) return scatter(zeros, dim, at, x).view(result);
  // The gradient of each element is the result's at its position, whether it stayed there or not.
  const Tensor values = scatter(zeros, dim, at, x.detach());
  const Tensor finite = where(isfinite(x), x, 0);
  return (values + scatter_add(zeros, dim, at, finite - finite.detach())).view(result);
}

}  // namespace

Tensor max_unpool2d(Arg self, const Tensor& indices, IntArrayRef output_size) {
  const SiteScope scope(self.site);
  return unpooled("max_unpool2d", *self.tensor, indices, output_size, 2);
}

Tensor max_unpool3d(Arg self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding) {
  const SiteScope scope(self.site);
  bool is_positive = stride.size() == 3 && padding.size() == 3;
  for (const std::int64_t step : stride) is_positive = is_positive && step > 0;
  GROOVE_CHECK(is_positive,
               "max_unpool3d: stride {} and padding {} must hold 3 numbers, strides "
               "positive ones",
               to_string(stride), to_string(padding));
  return unpooled("max_unpool3d", *self.tensor, indices, output_size, 3);
}

}  // namespace groove
