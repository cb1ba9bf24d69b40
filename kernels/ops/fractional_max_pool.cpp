// fractional_max_pool2d and fractional_max_pool3d: windows whose first elements are where a
// sequence of equal fractional steps, begun at a random place, passes whole numbers. All elements
// of all windows are gathered; their maxima lie along the last axis then.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/pooling.h"
#include "groove/ops/views.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

// The first positions of windows along an axis, [N, C, out]; `sample` [N, C, 1].
Tensor starts(const Tensor& sample, std::int64_t in, std::int64_t kernel, std::int64_t out) {
  const Tensor last = full({sample.size(0), sample.size(1), 1}, in - kernel, kLong);
  if (out == 1) return last;
  const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
  const Tensor steps = arange(out - 1, sample.scalar_type());
  const Tensor first = trunc((steps + sample) * step) - trunc(sample * step);
  return cat({first.to(kLong), last}, 2);
}

std::tuple<Tensor, Tensor> pooled(const char* name, const Tensor& self, IntArrayRef kernel_size,
                                  IntArrayRef output_size, const Tensor& samples,
                                  std::size_t axes) {
  const Shape sizes = checked(name, self).geometry.sizes;
  GROOVE_CHECK(sizes.size() == axes + 1 || sizes.size() == axes + 2,
               "{}: input {} must have {} dimensions, or {} for one image", name, to_string(sizes),
               axes + 2, axes + 1);
  GROOVE_CHECK(is_floating(self.scalar_type()), "{}: input is {}; it must be floating", name,
               groove::name(self.scalar_type()));
  const Shape kernel = spatial(name, "kernel_size", kernel_size, axes);
  const Shape out = spatial(name, "output_size", output_size, axes);
  const bool is_single = sizes.size() == axes + 1;
  const Tensor x = is_single ? self.unsqueeze(0) : self;
  const std::int64_t images = x.size(0), channels = x.size(1);
  const Shape wanted = {images, channels, static_cast<std::int64_t>(axes)};
  GROOVE_CHECK(checked(name, samples).geometry.sizes == wanted &&
                   samples.scalar_type() == self.scalar_type(),
               "{}: random_samples {} must be {} in the input's dtype", name,
               to_string(samples.sizes()), to_string(wanted));
  // Positions [N, C, out..., kernel...] in the flat image, from the last axis on. Samples are in
  // the order of axes in a volume and the other way around in a plane, as in LibTorch.
  Tensor index;
  std::int64_t stride = 1;
  Shape windows = {images, channels};
  for (std::size_t i = 0; i < axes; ++i) windows.push_back(out[i]);
  const Shape result = windows;
  for (std::size_t i = axes; i-- > 0;) {
    const std::int64_t in = sizes[sizes.size() - axes + i];
    GROOVE_CHECK(kernel[i] > 0 && out[i] > 0 && out[i] + kernel[i] - 1 <= in,
                 "{}: {} windows of {} do not fit an axis of {}", name, out[i], kernel[i], in);
    const auto which = static_cast<std::int64_t>(axes == 2 ? 1 - i : i);
    Shape first(2 + 2 * axes, 1), tap(axes, 1);
    first[0] = images;
    first[1] = channels;
    first[2 + i] = out[i];
    tap[i] = kernel[i];
    const Tensor at = starts(samples.narrow(2, which, 1), in, kernel[i], out[i]).view(first) +
                      arange(kernel[i], kLong).view(tap);
    index = index.defined() ? index + at * stride : at;
    stride *= in;
  }
  std::int64_t taps = 1, count = 1;  // of one window, of all in a plane
  for (std::size_t i = 0; i < axes; ++i) {
    taps *= kernel[i];
    count *= kernel[i] * out[i];
  }
  windows.push_back(taps);
  index = clamp(index, 0, stride - 1);  // all lie there, but only this says so
  const Tensor taken =
      gather(x.reshape({images, channels, stride}), 2, index.reshape({images, channels, count}));
  const auto [values, which] = max(taken.view(windows), -1, true);
  const Tensor positions = gather(index.reshape(windows), -1, which).view(result);
  const Tensor maxima = values.view(result);
  if (!is_single) return {maxima, positions};
  return {maxima.squeeze(0), positions.squeeze(0)};
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d(Arg self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  const SiteScope scope(self.site);
  return pooled("fractional_max_pool2d", *self.tensor, kernel_size, output_size, random_samples, 2);
}
std::tuple<Tensor, Tensor> fractional_max_pool3d(Arg self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  const SiteScope scope(self.site);
  return pooled("fractional_max_pool3d", *self.tensor, kernel_size, output_size, random_samples, 3);
}

}  // namespace groove
