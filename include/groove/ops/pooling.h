// Pools beyond those of convolutions.h: over three axes, with positions, of windows that are drawn,
// and back from positions. Input [N, C, spatial...]; a missing N means one image. Positions are
// flat ones (i64) in the spatial axes; ties take the first. What does not fit throws groove::Error.
#pragma once

#include <optional>
#include <tuple>

#include "groove/tensor.h"

namespace groove {

/// As max_pool1d, with the position of each element taken.
std::tuple<Tensor, Tensor> max_pool1d_with_indices(Arg self, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);
/// The greatest element of each window; without a stride: the kernel's size.
Tensor max_pool3d(Arg self, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
std::tuple<Tensor, Tensor> max_pool3d_with_indices(Arg self, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);
/// The sum of each window, divided by `divisor_override` or by its number of elements.
Tensor avg_pool3d(Arg self, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<std::int64_t> divisor_override = std::nullopt);

/// Windows chosen so that the result has the given size; -1 keeps an axis.
Tensor adaptive_avg_pool3d(Arg self, IntArrayRef output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool1d(Arg self, IntArrayRef output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool3d(Arg self, IntArrayRef output_size);

/// Zeros [N, C, output_size...] with the elements of self at the positions in `indices`, which has
/// self's shape; of several to one place the last one wins.
Tensor max_unpool2d(Arg self, const Tensor& indices, IntArrayRef output_size);
Tensor max_unpool3d(Arg self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding);

/// The greatest elements of windows that lie at places drawn for each plane: random_samples
/// [N, C, 2] or [N, C, 3] of numbers in [0, 1) (Graham 2014). With their positions.
std::tuple<Tensor, Tensor> fractional_max_pool2d(Arg self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples);
std::tuple<Tensor, Tensor> fractional_max_pool3d(Arg self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples);

}  // namespace groove
