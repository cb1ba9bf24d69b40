// Interpolation by LibTorch's names: one function for each way and number of axes.
#include <cmath>

#include "groove/ops/interpolation.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// The result's sizes, where either they or factors are given.
struct AskedSizes {
  AskedSizes(std::size_t axes, Arg input, const std::optional<IntArrayRef>& given,
             const std::optional<ArrayRef<double>>& factors)
      : scales(axes) {
    const Shape own = checked("upsample", *input.tensor).geometry.sizes;
    GROOVE_CHECK(given.has_value() != factors.has_value(),
                 "upsample: give either output_size or scale_factors");
    GROOVE_CHECK(own.size() == axes + 2 && (given ? given->size() : factors->size()) == axes,
                 "upsample: input {} must have {} dimensions, and {} sizes or factors are needed",
                 to_string(own), axes + 2, axes);
    for (std::size_t i = 0; i < axes; ++i) {
      if (factors) scales[i] = (*factors)[i];
      sizes.push_back(
          given ? (*given)[i]
                : static_cast<std::int64_t>(static_cast<double>(own[2 + i]) * (*factors)[i]));
    }
  }
  Shape sizes;
  std::vector<std::optional<double>> scales;
};

}  // namespace

Tensor upsample_nearest1d(Arg self, IntArrayRef output_size, std::optional<double> scales) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearest, false, {scales});
}
Tensor upsample_nearest2d(Arg self, IntArrayRef output_size, std::optional<double> scales_h,
                          std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearest, false, {scales_h, scales_w});
}
Tensor upsample_nearest3d(Arg self, IntArrayRef output_size, std::optional<double> scales_d,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearest, false,
                     {scales_d, scales_h, scales_w});
}
Tensor upsample_linear1d(Arg self, IntArrayRef output_size, bool align_corners,
                         std::optional<double> scales) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kLinear, align_corners, {scales});
}
Tensor upsample_bilinear2d(Arg self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h, std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kLinear, align_corners,
                     {scales_h, scales_w});
}
Tensor upsample_trilinear3d(Arg self, IntArrayRef output_size, bool align_corners,
                            std::optional<double> scales_d, std::optional<double> scales_h,
                            std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kLinear, align_corners,
                     {scales_d, scales_h, scales_w});
}
Tensor upsample_bicubic2d(Arg self, IntArrayRef output_size, bool align_corners,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kCubic, align_corners, {scales_h, scales_w});
}

Tensor _upsample_nearest_exact1d(Arg self, IntArrayRef output_size, std::optional<double> scales) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearestExact, false, {scales});
}
Tensor _upsample_nearest_exact2d(Arg self, IntArrayRef output_size, std::optional<double> scales_h,
                                 std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearestExact, false, {scales_h, scales_w});
}
Tensor _upsample_nearest_exact3d(Arg self, IntArrayRef output_size, std::optional<double> scales_d,
                                 std::optional<double> scales_h, std::optional<double> scales_w) {
  const CallFrame frame(self.site);
  return interpolate(self, output_size, Interpolation::kNearestExact, false,
                     {scales_d, scales_h, scales_w});
}

Tensor upsample_nearest1d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(1, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kNearest, false, asked.scales);
}
Tensor upsample_nearest2d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(2, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kNearest, false, asked.scales);
}
Tensor upsample_nearest3d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(3, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kNearest, false, asked.scales);
}
Tensor upsample_linear1d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                         std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(1, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kLinear, align_corners, asked.scales);
}
Tensor upsample_bilinear2d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                           std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(2, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kLinear, align_corners, asked.scales);
}
Tensor upsample_trilinear3d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                            std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(3, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kLinear, align_corners, asked.scales);
}
Tensor upsample_bicubic2d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                          std::optional<ArrayRef<double>> scale_factors) {
  const CallFrame frame(input.site);
  const AskedSizes asked(2, input, output_size, scale_factors);
  return interpolate(input, asked.sizes, Interpolation::kCubic, align_corners, asked.scales);
}

}  // namespace groove
