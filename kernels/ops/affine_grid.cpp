// affine_grid_generator: where the elements of an image lie in another one, by a matrix for each.
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/sampling.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// Centres from -1 to 1, or where these are the outer edges.
Tensor centres(std::int64_t size, bool align_corners, ScalarType dtype) {
  if (size <= 1) return zeros({size}, dtype);
  const Tensor even = linspace(-1, 1, size, dtype);
  return align_corners ? even : even * static_cast<double>(size - 1) / static_cast<double>(size);
}

}  // namespace

Tensor affine_grid_generator(Arg theta, IntArrayRef size, bool align_corners) {
  const SiteScope scope(theta.site);
  const Shape sizes = checked("affine_grid_generator", *theta.tensor).geometry.sizes;
  GROOVE_CHECK(size.size() == 4 || size.size() == 5,
               "affine_grid_generator: size {} must be [N, C, H, W] or [N, C, D, H, W]",
               to_string(size));
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  const Shape wanted = {size[0], axes, axes + 1};
  GROOVE_CHECK(sizes == wanted && is_floating(theta.tensor->scalar_type()),
               "affine_grid_generator: theta {} must be floating and {} for an image of {}",
               to_string(sizes), to_string(wanted), to_string(size));
  for (const std::int64_t each : size)
    GROOVE_CHECK(each > 0, "affine_grid_generator: size {} must be positive", to_string(size));
  const ScalarType dtype = theta.tensor->scalar_type();
  Shape image(size.slice(2));
  Tensors columns;  // x, y, z and 1
  for (std::size_t axis = image.size(); axis-- > 0;) {
    Shape along(image.size(), 1);
    along[axis] = image[axis];
    columns.push_back(
        centres(image[axis], align_corners, dtype).view(along).expand(image).reshape({-1}));
  }
  columns.push_back(ones(columns[0].sizes(), dtype));
  const Tensor grid = matmul(stack(columns, 1), theta.tensor->transpose(1, 2));
  image.insert(0, size[0]);
  image.push_back(axes);
  return grid.view(image);
}

}  // namespace groove
