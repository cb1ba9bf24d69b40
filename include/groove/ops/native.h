// What LibTorch's own layers are made of, for programs that call it by name: layers with what their
// gradients need, slopes of activations, copies of views, and other rarely named functions.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "groove/tensor.h"

namespace groove {

/// grad_output times the slope at what the activation gave (sigmoid, tanh) or got (threshold).
Tensor sigmoid_backward(Arg grad_output, const Tensor& output);
Tensor tanh_backward(Arg grad_output, const Tensor& output);
Tensor threshold_backward(Arg grad_output, const Tensor& self, Scalar threshold);

/// softmax and log_softmax; `half_to_float` widens a Half tensor, and throws for any other.
Tensor _softmax(Arg self, std::int64_t dim, bool half_to_float);
Tensor _log_softmax(Arg self, std::int64_t dim, bool half_to_float);
/// The gradients by their inputs, from what they gave.
Tensor _softmax_backward_data(Arg grad_output, const Tensor& output, std::int64_t dim,
                              ScalarType input_dtype);
Tensor _log_softmax_backward_data(Arg grad_output, const Tensor& output, std::int64_t dim,
                                  ScalarType input_dtype);

/// (layer_norm, mean, 1 / standard deviation); the latter keep the normalized axes, as 1.
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(Arg input, IntArrayRef normalized_shape,
                                                     const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias, double eps);
/// (group_norm, mean, 1 / standard deviation) of [N, C, ..] with HxW elements a channel; the latter
/// are [N, group].
std::tuple<Tensor, Tensor, Tensor> native_group_norm(Arg input, const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias,
                                                     std::int64_t N, std::int64_t C,
                                                     std::int64_t HxW, std::int64_t group,
                                                     double eps);
/// (dropout, which elements were kept).
std::tuple<Tensor, Tensor> native_dropout(Arg input, double p, std::optional<bool> train);

/// The norms over all axes but `dim`, which stays; of all elements where it is -1.
Tensor norm_except_dim(Arg v, std::int64_t pow = 2, std::int64_t dim = 0);
/// v * (g / norm_except_dim(v, 2, dim)), as utils::weight_norm of Python.
Tensor _weight_norm(Arg v, const Tensor& g, std::int64_t dim = 0);

// chunk, split: here no result is ever unsafe.
std::vector<Tensor> unsafe_chunk(Arg self, std::int64_t chunks, std::int64_t dim = 0);
std::vector<Tensor> unsafe_split(Arg self, std::int64_t split_size, std::int64_t dim = 0);
std::vector<Tensor> unsafe_split_with_sizes(Arg self, IntArrayRef split_sizes,
                                            std::int64_t dim = 0);

// A view, and copies of views.
Tensor alias(Arg self);
Tensor narrow_copy(Arg self, std::int64_t dim, std::int64_t start, std::int64_t length);
Tensor expand_copy(Arg self, IntArrayRef size, bool implicit = false);
Tensor view_copy(Arg self, IntArrayRef size);
Tensor permute_copy(Arg self, IntArrayRef dims);
Tensor transpose_copy(Arg self, std::int64_t dim0, std::int64_t dim1);
Tensor squeeze_copy(Arg self);
Tensor squeeze_copy(Arg self, std::int64_t dim);
Tensor unsqueeze_copy(Arg self, std::int64_t dim);
Tensor select_copy(Arg self, std::int64_t dim, std::int64_t index);
Tensor unfold_copy(Arg self, std::int64_t dimension, std::int64_t size, std::int64_t step);
Tensor detach_copy(Arg self);
/// A copy of self in whose as_strided view src stands.
Tensor as_strided_scatter(Arg self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<std::int64_t> storage_offset = std::nullopt);

/// The truth of the only element.
bool is_nonzero(Arg self);
/// The sizes as a Long tensor.
Tensor _shape_as_tensor(Arg self);
/// nonzero as one tensor for each axis.
std::vector<Tensor> nonzero_numpy(Arg self);
/// (m, e) with self = m * 2^e and 0.5 <= |m| < 1; e is Int, and 0 where self is 0 or not finite.
std::tuple<Tensor, Tensor> frexp(Arg self);
/// The powers N - 1, .., 0 of the elements of x [n] as the columns of [n, N]; 0, .. where
/// increasing. N is n unless it is given.
Tensor vander(Arg x, std::optional<std::int64_t> N = std::nullopt, bool increasing = false);
/// (counts or their density, the edges [bins + 1]) of all elements over equal bins of `range`, or
/// of the smallest to the largest; each element counts its weight.
std::tuple<Tensor, Tensor> histogram(Arg self, std::int64_t bins = 100,
                                     std::optional<ArrayRef<double>> range = std::nullopt,
                                     const std::optional<Tensor>& weight = std::nullopt,
                                     bool density = false);
/// The same over bins between these edges, which ascend.
std::tuple<Tensor, Tensor> histogram(Arg self, const Tensor& bins,
                                     const std::optional<Tensor>& weight = std::nullopt,
                                     bool density = false);

/// self rounded to whole multiples of scale around zero_point, those from quant_min to quant_max;
/// the gradient passes where that changed nothing but the place between them. Scale and zero point
/// of all, or of each slice along `axis` ([C]).
Tensor fake_quantize_per_tensor_affine(Arg self, double scale, std::int64_t zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max);
Tensor fake_quantize_per_tensor_affine(Arg self, const Tensor& scale, const Tensor& zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max);
Tensor fake_quantize_per_channel_affine(Arg self, const Tensor& scale, const Tensor& zero_point,
                                        std::int64_t axis, std::int64_t quant_min,
                                        std::int64_t quant_max);

}  // namespace groove
