// Convolutions, pooling and batch normalisation over [N, C, L], [N, C, H, W] and [N, C, D, H, W] (a
// missing N means one image). Spatial lists hold one number for all axes or one per axis. Shapes
// that do not fit throw groove::Error.
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>

#include "groove/tensor.h"

namespace groove {

/// input [N, C, L], weight [O, C / groups, K], bias [O] or undefined -> [N, O, L'].
Tensor conv1d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
              IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
              std::int64_t groups = 1);
/// input [N, C, H, W], weight [O, C / groups, KH, KW], bias [O] or undefined -> [N, O, H', W'].
Tensor conv2d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
              IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
              std::int64_t groups = 1);
/// input [N, C, D, H, W], weight [O, C / groups, KD, KH, KW], bias [O] or undefined ->
/// [N, O, D', H', W'].
Tensor conv3d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
              IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
              std::int64_t groups = 1);

namespace detail {
/// The convolution over so many axes whose padding is "valid" (none) or "same" (the result has the
/// input's size; needs stride 1, and where the sides differ the greater one is behind).
Tensor convolve_padded(std::size_t axes, Arg input, const Tensor& weight, const Tensor& bias,
                       IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                       std::int64_t groups);

// Not a number: 0 would be a string, too.
template <typename T>
concept PaddingName = std::convertible_to<const T&, std::string_view>;
}  // namespace detail

/// With a padding of "valid" or "same".
template <detail::PaddingName Padding>
Tensor conv1d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              const Padding& padding, IntArrayRef dilation = 1, std::int64_t groups = 1) {
  return detail::convolve_padded(1, input, weight, bias, stride, padding, dilation, groups);
}
template <detail::PaddingName Padding>
Tensor conv2d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              const Padding& padding, IntArrayRef dilation = 1, std::int64_t groups = 1) {
  return detail::convolve_padded(2, input, weight, bias, stride, padding, dilation, groups);
}
template <detail::PaddingName Padding>
Tensor conv3d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              const Padding& padding, IntArrayRef dilation = 1, std::int64_t groups = 1) {
  return detail::convolve_padded(3, input, weight, bias, stride, padding, dilation, groups);
}

/// The transposes: input [N, C, L], weight [C, O / groups, K], bias [O] or undefined -> [N, O, L'],
/// L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1, where output_padding is
/// smaller than the stride or the dilation.
Tensor conv_transpose1d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, std::int64_t groups = 1,
                        IntArrayRef dilation = 1);
/// input [N, C, H, W], weight [C, O / groups, KH, KW], bias [O] or undefined -> [N, O, H', W'].
Tensor conv_transpose2d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, std::int64_t groups = 1,
                        IntArrayRef dilation = 1);

/// input [N, C, D, H, W], weight [C, O / groups, KD, KH, KW], bias [O] or undefined ->
/// [N, O, D', H', W'].
Tensor conv_transpose3d(Arg input, const Tensor& weight, const Tensor& bias = Tensor(),
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, std::int64_t groups = 1,
                        IntArrayRef dilation = 1);
/// Any of the six, by the weight's dimensions and `transposed`; output_padding is for transposes.
Tensor convolution(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups);
/// self [L, N, C], weight [K, C, O], bias [O] -> [L', N, O].
Tensor conv_tbc(Arg self, const Tensor& weight, const Tensor& bias, std::int64_t pad = 0);

/// The greatest element of each window; NaN if one is. Without a stride: the kernel's size.
Tensor max_pool1d(Arg input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
Tensor max_pool2d(Arg input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
/// With the flat position (i64, in H * W) of each element taken; ties take the first.
std::tuple<Tensor, Tensor> max_pool2d_with_indices(Arg input, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);
Tensor avg_pool1d(Arg input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true);
Tensor avg_pool2d(Arg input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<std::int64_t> divisor_override = std::nullopt);
/// Windows chosen so that the result has the given size; -1 keeps an axis.
Tensor adaptive_avg_pool1d(Arg self, IntArrayRef output_size);
Tensor adaptive_avg_pool2d(Arg self, IntArrayRef output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool2d(Arg self, IntArrayRef output_size);

/// (input - mean) / sqrt(var + eps) per channel (axis 1), times weight plus bias where given. In
/// training over the batch's own statistics, which move the running ones (where given) by
/// `momentum`, the variance unbiased; otherwise over the running ones (Ioffe and Szegedy 2015).
Tensor batch_norm(Arg input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps,
                  bool cudnn_enabled = false);
/// Over groups of channels of each image (Wu and He 2018).
Tensor group_norm(Arg input, std::int64_t num_groups, const Tensor& weight = Tensor(),
                  const Tensor& bias = Tensor(), double eps = 1e-5, bool cudnn_enabled = false);
/// As batch_norm, over each channel of each image by itself (Ulyanov et al. 2016); the running
/// statistics (where given) move by the mean over all images. Without use_input_stats over these.
Tensor instance_norm(Arg input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled = false);

}  // namespace groove
