// Pools over three axes, by pools over (height, width) and then over the depth: a maximum of maxima
// is the maximum, and of equal elements the first in the plane and then the first plane is the
// first of all. Means divide sums once.
#include "groove/ops/pooling.h"

#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

struct Volumes {
  Tensor x;  // [N, C, D, H, W]
  bool is_single;
  Tensor out(const Tensor& pooled) const { return is_single ? pooled.squeeze(0) : pooled; }
  Tensor planes() const {
    return x.reshape({x.size(0), x.size(1) * x.size(2), x.size(3), x.size(4)});
  }
  // [N, C, D, H' * W'] of planes that are pooled.
  Tensor columns(const Tensor& planes) const {
    return planes.reshape({x.size(0), x.size(1), x.size(2), planes.size(2) * planes.size(3)});
  }
  Tensor volumes(const Tensor& columns, const Tensor& planes) const {
    return columns.reshape({x.size(0), x.size(1), columns.size(2), planes.size(2), planes.size(3)});
  }
};

Volumes volumes_of(const char* name, const Tensor& self) {
  const Shape sizes = checked(name, self).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 4 || sizes.size() == 5,
               "{}: input {} must have 5 dimensions, or 4 for one volume", name, to_string(sizes));
  for (std::size_t i = sizes.size() - 4; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] > 0, "{}: input {} has nothing to pool", name, to_string(sizes));
  GROOVE_CHECK(is_floating(self.scalar_type()), "{}: input is {}; it must be floating", name,
               groove::name(self.scalar_type()));
  return {sizes.size() == 4 ? self.unsqueeze(0) : self, sizes.size() == 4};
}

struct Windows {
  Shape kernel, stride, padding, dilation;
};

Windows windows_of(const char* name, const Volumes& of, IntArrayRef kernel, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation) {
  Windows windows{spatial(name, "kernel_size", kernel, 3),
                  {},
                  spatial(name, "padding", padding, 3),
                  spatial(name, "dilation", dilation, 3)};
  windows.stride = stride.empty() ? windows.kernel : spatial(name, "stride", stride, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t k = windows.kernel[i], p = windows.padding[i];
    GROOVE_CHECK(k > 0 && windows.stride[i] > 0 && windows.dilation[i] > 0 && p >= 0 && 2 * p <= k,
                 "{}: kernel {}, stride {} and dilation {} must be positive, padding {} at most "
                 "half the kernel",
                 name, k, windows.stride[i], windows.dilation[i], p);
    const std::int64_t in = of.x.size(static_cast<std::int64_t>(2 + i));
    GROOVE_CHECK(in + 2 * p > windows.dilation[i] * (k - 1),
                 "{}: a window of {} does not fit an input of {} (padding {})", name,
                 windows.dilation[i] * (k - 1) + 1, in, p);
  }
  return windows;
}

IntArrayRef in_plane(const Shape& values) { return IntArrayRef(values).slice(1); }

// The position in the volume: `depth` holds the places of what was taken in [D, H' * W'], `plane`
// those in [H, W].
Tensor positions(const Volumes& of, const Tensor& plane, const Tensor& depth) {
  const std::int64_t count = plane.size(2) * plane.size(3);
  const Tensor flat = depth.flatten(2);
  const Tensor in_plane = gather(of.columns(plane).flatten(2), 2, flat);
  const Tensor at = floor_divide(flat, count) * (of.x.size(3) * of.x.size(4)) + in_plane;
  return of.out(of.volumes(at.view(depth.sizes()), plane));
}

std::tuple<Tensor, Tensor> max_pooled(const char* name, const Tensor& self, IntArrayRef kernel_size,
                                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                      bool ceil_mode, bool with_positions) {
  const Volumes of = volumes_of(name, self);
  const Windows w = windows_of(name, of, kernel_size, stride, padding, dilation);
  const auto [planes, plane_positions] =
      max_pool2d_with_indices(of.planes(), in_plane(w.kernel), in_plane(w.stride),
                              in_plane(w.padding), in_plane(w.dilation), ceil_mode);
  const auto [values, depth_positions] =
      max_pool2d_with_indices(of.columns(planes), {w.kernel[0], 1}, {w.stride[0], 1},
                              {w.padding[0], 0}, {w.dilation[0], 1}, ceil_mode);
  const Tensor result = of.out(of.volumes(values, planes));
  return {result, with_positions ? positions(of, plane_positions, depth_positions) : Tensor()};
}

// How many elements each window along an axis has, [out].
Tensor counts(const Windows& windows, std::size_t axis, std::int64_t in, std::int64_t out,
              bool counts_padding, ScalarType dtype) {
  const std::int64_t padding = windows.padding[axis];
  const Tensor first = arange(out, dtype) * windows.stride[axis] - padding;
  const Tensor end = clamp_max(first + windows.kernel[axis], counts_padding ? in + padding : in);
  return end - (counts_padding ? first : clamp_min(first, 0));
}

Shape adaptive_sizes(const char* name, const Volumes& of, IntArrayRef output_size) {
  Shape sizes = spatial(name, "output_size", output_size, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (sizes[i] == -1) sizes[i] = of.x.size(static_cast<std::int64_t>(2 + i));
    GROOVE_CHECK(sizes[i] > 0, "{}: output_size {} must be positive, or -1 to keep an axis", name,
                 to_string(output_size));
  }
  return sizes;
}

}  // namespace

Tensor max_pool3d(Arg self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  const SiteScope scope(self.site);
  return std::get<0>(max_pooled("max_pool3d", *self.tensor, kernel_size, stride, padding, dilation,
                                ceil_mode, false));
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(Arg self, IntArrayRef kernel_size,
                                                   IntArrayRef stride, IntArrayRef padding,
                                                   IntArrayRef dilation, bool ceil_mode) {
  const SiteScope scope(self.site);
  return max_pooled("max_pool3d", *self.tensor, kernel_size, stride, padding, dilation, ceil_mode,
                    true);
}

Tensor avg_pool3d(Arg self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override) {
  const SiteScope scope(self.site);
  const char* name = "avg_pool3d";
  GROOVE_CHECK(divisor_override != 0, "avg_pool3d: divisor_override is 0");
  const Volumes of = volumes_of(name, *self.tensor);
  const Windows w = windows_of(name, of, kernel_size, stride, padding, 1);
  const Tensor planes = avg_pool2d(of.planes(), in_plane(w.kernel), in_plane(w.stride),
                                   in_plane(w.padding), ceil_mode, true, 1);
  const Tensor sums = of.volumes(avg_pool2d(of.columns(planes), {w.kernel[0], 1}, {w.stride[0], 1},
                                            {w.padding[0], 0}, ceil_mode, true, 1),
                                 planes);
  if (divisor_override) return of.out(div(sums, *divisor_override));
  bool is_uniform = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<std::int64_t>(2 + i);
    const std::int64_t most = of.x.size(axis) + (count_include_pad ? w.padding[i] : 0);
    const std::int64_t last = (sums.size(axis) - 1) * w.stride[i] - w.padding[i] + w.kernel[i];
    is_uniform = is_uniform && last <= most && (count_include_pad || w.padding[i] == 0);
  }
  if (is_uniform) return of.out(div(sums, w.kernel[0] * w.kernel[1] * w.kernel[2]));
  const auto along = [&](std::size_t i) {
    const auto axis = static_cast<std::int64_t>(2 + i);
    return counts(w, i, of.x.size(axis), sums.size(axis), count_include_pad, sums.scalar_type());
  };
  const Tensor of_plane = along(1).unsqueeze(1) * along(2);
  return of.out(sums / (along(0).view({-1, 1, 1}) * of_plane));
}

Tensor adaptive_avg_pool3d(Arg self, IntArrayRef output_size) {
  const SiteScope scope(self.site);
  const char* name = "adaptive_avg_pool3d";
  const Volumes of = volumes_of(name, *self.tensor);
  const Shape sizes = adaptive_sizes(name, of, output_size);
  if (sizes == Shape{1, 1, 1}) return mean(*self.tensor, {-3, -2, -1}, true);
  // A mean of means: all windows in a plane have their sizes at every depth.
  const Tensor planes = adaptive_avg_pool2d(of.planes(), in_plane(sizes));
  const Tensor columns =
      adaptive_avg_pool2d(of.columns(planes), {sizes[0], planes.size(2) * planes.size(3)});
  return of.out(of.volumes(columns, planes));
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d(Arg self, IntArrayRef output_size) {
  const SiteScope scope(self.site);
  const char* name = "adaptive_max_pool3d";
  const Volumes of = volumes_of(name, *self.tensor);
  const Shape sizes = adaptive_sizes(name, of, output_size);
  const auto [planes, plane_positions] = adaptive_max_pool2d(of.planes(), in_plane(sizes));
  const auto [values, depth_positions] =
      adaptive_max_pool2d(of.columns(planes), {sizes[0], planes.size(2) * planes.size(3)});
  return {of.out(of.volumes(values, planes)), positions(of, plane_positions, depth_positions)};
}

}  // namespace groove
