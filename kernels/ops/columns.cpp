// im2col and col2im: the windows of an image as columns, and their sums as an image.
#include "groove/ops/sampling.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis_windows.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

struct PlaneWindows {
  AxisWindows height, width;
  std::int64_t rows, columns;  // how many windows
};

PlaneWindows windows_of(const char* name, IntArrayRef image, IntArrayRef kernel_size,
                        IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  const Shape kernel = spatial(name, "kernel_size", kernel_size, 2);
  const Shape spread = spatial(name, "dilation", dilation, 2);
  const Shape around = spatial(name, "padding", padding, 2);
  const Shape step = spatial(name, "stride", stride, 2);
  for (std::size_t i = 0; i < 2; ++i)
    GROOVE_CHECK(kernel[i] > 0 && spread[i] > 0 && step[i] > 0 && around[i] >= 0,
                 "{}: kernel_size {}, dilation {} and stride {} must be positive, padding {} not "
                 "negative",
                 name, to_string(kernel), to_string(spread), to_string(step), to_string(around));
  PlaneWindows windows{
      {kernel[0], step[0], around[0], spread[0]}, {kernel[1], step[1], around[1], spread[1]}, 0, 0};
  windows.rows = windows.height.count(image[0]);
  windows.columns = windows.width.count(image[1]);
  GROOVE_CHECK(windows.rows > 0 && windows.columns > 0,
               "{}: no window of {} (dilation {}, padding {}) fits an image of {}", name,
               to_string(kernel), to_string(spread), to_string(around), to_string(image));
  return windows;
}

}  // namespace

Tensor im2col(Arg self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("im2col", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 3 || sizes.size() == 4,
               "im2col: input {} must be [N, C, H, W] or [C, H, W]", to_string(sizes));
  const PlaneWindows windows = windows_of("im2col", IntArrayRef(sizes).slice(sizes.size() - 2),
                                          kernel_size, dilation, padding, stride);
  const bool is_single = sizes.size() == 3;
  const Tensor x = is_single ? self.tensor->unsqueeze(0) : *self.tensor;
  const Tensor parts = unfolded(unfolded(x, 2, windows.height), 4, windows.width);
  const Tensor columns =
      parts.permute({0, 1, 2, 4, 3, 5})
          .reshape({x.size(0), x.size(1) * windows.height.kernel * windows.width.kernel,
                    windows.rows * windows.columns});
  return is_single ? columns.squeeze(0) : columns;
}

Tensor col2im(Arg self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("col2im", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 2 || sizes.size() == 3,
               "col2im: input {} must be [N, C * KH * KW, windows] or [C * KH * KW, windows]",
               to_string(sizes));
  const Shape image = spatial("col2im", "output_size", output_size, 2);
  const PlaneWindows windows = windows_of("col2im", image, kernel_size, dilation, padding, stride);
  const bool is_single = sizes.size() == 2;
  const Tensor x = is_single ? self.tensor->unsqueeze(0) : *self.tensor;
  const std::int64_t taps = windows.height.kernel * windows.width.kernel;
  GROOVE_CHECK(x.size(1) % taps == 0 && x.size(2) == windows.rows * windows.columns,
               "col2im: input {} must have a multiple of {} rows, and {} columns: one for each "
               "window in an image of {}",
               to_string(sizes), taps, windows.rows * windows.columns, to_string(image));
  const Tensor parts = x.reshape({x.size(0), x.size(1) / taps, windows.height.kernel,
                                  windows.width.kernel, windows.rows, windows.columns})
                           .permute({0, 1, 2, 4, 3, 5});  // [N, C, KH, rows, KW, columns]
  const Tensor result =
      folded(folded(parts, 4, windows.width, image[1]), 2, windows.height, image[0]);
  return is_single ? result.squeeze(0) : result;
}

}  // namespace groove
