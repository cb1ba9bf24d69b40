// Windows of images as columns and back, and images read at positions that a tensor holds.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// [N, C, H, W] (or without N) -> [N, C * KH * KW, windows]: each window's elements, 0 in the
/// padding, as one column; windows row by row. Throws groove::Error where no window fits.
Tensor im2col(Arg self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride);
/// The transpose: [N, C * KH * KW, windows] -> [N, C, output_size...], elements that windows share
/// being sums.
Tensor col2im(Arg self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride);

/// input [N, C, H, W] at the positions grid [N, H', W', 2] (x, y) -> [N, C, H', W']; positions go
/// from -1 to 1 between the outer edges, with `align_corners` between the outer centres.
/// interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border,
/// 2 reflection. Both operands have the same floating dtype.
Tensor grid_sampler_2d(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                       std::int64_t padding_mode, bool align_corners);
/// input [N, C, D, H, W], grid [N, D', H', W', 3] (x, y, z).
Tensor grid_sampler_3d(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                       std::int64_t padding_mode, bool align_corners);
/// Either, by the input's dimensions.
Tensor grid_sampler(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                    std::int64_t padding_mode, bool align_corners);
/// theta [N, 2, 3] with size [N, C, H, W] -> grid [N, H, W, 2]; [N, 3, 4] with size [N, C, D, H, W]
/// -> [N, D, H, W, 3]: where each element of an image lies in another one.
Tensor affine_grid_generator(Arg theta, IntArrayRef size, bool align_corners);

}  // namespace groove
