// Sampling of the last axes of [N, C, …] at other positions: images made larger or smaller. Where a
// scale is given it stands for (output size / input size) when positions are computed.
#pragma once

#include <optional>

#include "groove/tensor.h"

namespace groove {

/// How values between the input's are found: the element at or before the position, the one whose
/// cell holds it, straight lines between two, cubic ones (a = -0.75; Keys 1981) through four, or
/// means over the cells that an element covers.
enum class Interpolation : std::int8_t { kNearest, kNearestExact, kLinear, kCubic, kArea };

/// input [N, C, d1, …, dk] with k sizes -> [N, C, sizes…]. With `align_corners` (linear and cubic)
/// the centres of the outer elements fall together, otherwise the outer edges. Throws groove::Error
/// for other ranks, sizes that are not positive, and integers (nearest takes any dtype).
Tensor interpolate(Arg input, IntArrayRef sizes, Interpolation how, bool align_corners = false,
                   ArrayRef<std::optional<double>> scales = {});

Tensor upsample_nearest1d(Arg self, IntArrayRef output_size,
                          std::optional<double> scales = std::nullopt);
Tensor upsample_nearest2d(Arg self, IntArrayRef output_size,
                          std::optional<double> scales_h = std::nullopt,
                          std::optional<double> scales_w = std::nullopt);
Tensor upsample_nearest3d(Arg self, IntArrayRef output_size,
                          std::optional<double> scales_d = std::nullopt,
                          std::optional<double> scales_h = std::nullopt,
                          std::optional<double> scales_w = std::nullopt);
Tensor upsample_linear1d(Arg self, IntArrayRef output_size, bool align_corners,
                         std::optional<double> scales = std::nullopt);
Tensor upsample_bilinear2d(Arg self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h = std::nullopt,
                           std::optional<double> scales_w = std::nullopt);
Tensor upsample_trilinear3d(Arg self, IntArrayRef output_size, bool align_corners,
                            std::optional<double> scales_d = std::nullopt,
                            std::optional<double> scales_h = std::nullopt,
                            std::optional<double> scales_w = std::nullopt);
Tensor upsample_bicubic2d(Arg self, IntArrayRef output_size, bool align_corners,
                          std::optional<double> scales_h = std::nullopt,
                          std::optional<double> scales_w = std::nullopt);

/// The element whose cell holds the position.
Tensor _upsample_nearest_exact1d(Arg self, IntArrayRef output_size,
                                 std::optional<double> scales = std::nullopt);
Tensor _upsample_nearest_exact2d(Arg self, IntArrayRef output_size,
                                 std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt);
Tensor _upsample_nearest_exact3d(Arg self, IntArrayRef output_size,
                                 std::optional<double> scales_d = std::nullopt,
                                 std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt);
/// Filtered against aliasing: where an image becomes smaller, each element is a weighted mean over
/// all that it covers.
Tensor _upsample_bilinear2d_aa(Arg self, IntArrayRef output_size, bool align_corners,
                               std::optional<double> scales_h = std::nullopt,
                               std::optional<double> scales_w = std::nullopt);
Tensor _upsample_bicubic2d_aa(Arg self, IntArrayRef output_size, bool align_corners,
                              std::optional<double> scales_h = std::nullopt,
                              std::optional<double> scales_w = std::nullopt);

// With sizes, or with a factor for each axis instead of them.
Tensor upsample_nearest1d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_nearest2d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_nearest3d(Arg input, std::optional<IntArrayRef> output_size,
                          std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_linear1d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                         std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_bilinear2d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                           std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_trilinear3d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                            std::optional<ArrayRef<double>> scale_factors);
Tensor upsample_bicubic2d(Arg input, std::optional<IntArrayRef> output_size, bool align_corners,
                          std::optional<ArrayRef<double>> scale_factors);

}  // namespace groove
