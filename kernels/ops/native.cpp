// LibTorch's inside by name, in ordinary operators.
#include "groove/ops/native.h"

#include <algorithm>
#include <numeric>

#include "groove/factories.h"
#include "groove/ops/activations.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/dropouts.h"
#include "groove/ops/elementwise.h"
#include "groove/ops/index.h"
#include "groove/ops/norms.h"
#include "groove/ops/parts.h"
#include "groove/ops/products.h"
#include "groove/ops/reductions.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor optional_of(const std::optional<Tensor>& tensor) { return tensor.value_or(Tensor()); }

Tensor widened(const char* op, const Tensor& x, bool half_to_float) {
  const ScalarType dtype = checked(op, x).dtype;
  if (!half_to_float) return x;
  GROOVE_CHECK(dtype == kHalf, "{}: half_to_float is for Half tensors; this one is {}", op,
               name(dtype));
  return x.to(kFloat);
}

// (mean, 1 / standard deviation) over axes that stay.
std::tuple<Tensor, Tensor> moments_of(const Tensor& x, IntArrayRef axes, double eps) {
  const auto [variance, average] = var_mean(x, axes, false, true);
  return {average, rsqrt(variance + eps)};
}

}  // namespace

Tensor sigmoid_backward(Arg grad_output, const Tensor& output) {
  const SiteScope scope(grad_output.site);
  checked("sigmoid_backward", *grad_output.tensor);
  return *grad_output.tensor * (1 - output) * output;
}
Tensor tanh_backward(Arg grad_output, const Tensor& output) {
  const SiteScope scope(grad_output.site);
  checked("tanh_backward", *grad_output.tensor);
  return *grad_output.tensor * (1 - output * output);
}
Tensor threshold_backward(Arg grad_output, const Tensor& self, Scalar threshold) {
  const SiteScope scope(grad_output.site);
  checked("threshold_backward", *grad_output.tensor);
  return where(le(self, threshold), 0, *grad_output.tensor);
}

Tensor _softmax(Arg self, std::int64_t dim, bool half_to_float) {
  const SiteScope scope(self.site);
  return softmax(widened("_softmax", *self.tensor, half_to_float), dim);
}
Tensor _log_softmax(Arg self, std::int64_t dim, bool half_to_float) {
  const SiteScope scope(self.site);
  return log_softmax(widened("_log_softmax", *self.tensor, half_to_float), dim);
}
Tensor _softmax_backward_data(Arg grad_output, const Tensor& output, std::int64_t dim,
                              ScalarType input_dtype) {
  const SiteScope scope(grad_output.site);
  checked("_softmax_backward_data", *grad_output.tensor);
  const Tensor weighed = *grad_output.tensor * output;
  return (weighed - output * sum(weighed, dim, true)).to(input_dtype);
}
Tensor _log_softmax_backward_data(Arg grad_output, const Tensor& output, std::int64_t dim,
                                  ScalarType input_dtype) {
  const SiteScope scope(grad_output.site);
  checked("_log_softmax_backward_data", *grad_output.tensor);
  const Tensor& slope = *grad_output.tensor;
  return (slope - exp(output) * sum(slope, dim, true)).to(input_dtype);
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(Arg input, IntArrayRef normalized_shape,
                                                     const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias,
                                                     double eps) {
  const SiteScope scope(input.site);
  const Tensor result =
      layer_norm(input, normalized_shape, optional_of(weight), optional_of(bias), eps);
  std::vector<std::int64_t> axes(normalized_shape.size());
  std::iota(axes.begin(), axes.end(), -static_cast<std::int64_t>(axes.size()));
  const auto [average, inverse] = moments_of(*input.tensor, axes, eps);
  return {result, average, inverse};
}
std::tuple<Tensor, Tensor, Tensor> native_group_norm(Arg input, const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias,
                                                     std::int64_t N, std::int64_t C,
                                                     std::int64_t HxW, std::int64_t group,
                                                     double eps) {
  const SiteScope scope(input.site);
  const Shape sizes = checked("native_group_norm", *input.tensor).geometry.sizes;
  GROOVE_CHECK(
      sizes.size() > 1 && sizes[0] == N && sizes[1] == C && element_count(sizes) == N * C * HxW,
      "native_group_norm: input {} is no {} x {} x {}", to_string(sizes), N, C, HxW);
  const Tensor result = group_norm(input, group, optional_of(weight), optional_of(bias), eps);
  const auto [average, inverse] = moments_of(input.tensor->reshape({N, group, -1}), 2, eps);
  return {result, average.squeeze(2), inverse.squeeze(2)};
}
std::tuple<Tensor, Tensor> native_dropout(Arg input, double p, std::optional<bool> train) {
  const SiteScope scope(input.site);
  const Tensor& x = *input.tensor;
  const Type type{checked("native_dropout", x).dtype, type_of(x).sizes};
  if (!train.value_or(true)) return {x.clone(), ones(type.sizes, kBool)};
  GROOVE_CHECK(p >= 0 && p <= 1, "native_dropout: p is {}; a probability lies between 0 and 1", p);
  const Tensor mask = lt(rand(type.sizes), 1 - p);
  return {x * mask.to(type.dtype) * (p == 1 ? 0 : 1 / (1 - p)), mask};
}

Tensor norm_except_dim(Arg v, std::int64_t pow, std::int64_t dim) {
  const SiteScope scope(v.site);
  const Shape sizes = checked("norm_except_dim", *v.tensor).geometry.sizes;
  if (dim == -1) return norm(*v.tensor, pow);
  const std::int64_t axis = normal_dim("norm_except_dim", dim, sizes.size());
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < v.tensor->dim(); ++i)
    if (i != axis) others.push_back(i);
  return others.empty() ? abs(*v.tensor) : norm(*v.tensor, pow, others, true);
}
Tensor _weight_norm(Arg v, const Tensor& g, std::int64_t dim) {
  const SiteScope scope(v.site);
  return *v.tensor * (g / norm_except_dim(v, 2, dim));
}

std::vector<Tensor> unsafe_chunk(Arg self, std::int64_t chunks, std::int64_t dim) {
  const SiteScope scope(self.site);
  return chunk(self, chunks, dim);
}
std::vector<Tensor> unsafe_split(Arg self, std::int64_t split_size, std::int64_t dim) {
  const SiteScope scope(self.site);
  return split(self, split_size, dim);
}
std::vector<Tensor> unsafe_split_with_sizes(Arg self, IntArrayRef split_sizes, std::int64_t dim) {
  const SiteScope scope(self.site);
  return split_with_sizes(self, split_sizes, dim);
}

Tensor alias(Arg self) {
  const SiteScope scope(self.site);
  return self.tensor->view_as(*self.tensor);
}
Tensor narrow_copy(Arg self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const SiteScope scope(self.site);
  return clone(narrow(self, dim, start, length));
}
Tensor expand_copy(Arg self, IntArrayRef size, bool implicit) {
  const SiteScope scope(self.site);
  return self.tensor->expand(size, implicit).clone(MemoryFormat::Contiguous);
}
Tensor view_copy(Arg self, IntArrayRef size) {
  const SiteScope scope(self.site);
  return self.tensor->view(size).clone();
}
Tensor permute_copy(Arg self, IntArrayRef dims) {
  const SiteScope scope(self.site);
  return permute(self, dims).clone(MemoryFormat::Contiguous);
}
Tensor transpose_copy(Arg self, std::int64_t dim0, std::int64_t dim1) {
  const SiteScope scope(self.site);
  return transpose(self, dim0, dim1).clone(MemoryFormat::Contiguous);
}
Tensor squeeze_copy(Arg self) {
  const SiteScope scope(self.site);
  return clone(squeeze(self));
}
Tensor squeeze_copy(Arg self, std::int64_t dim) {
  const SiteScope scope(self.site);
  return clone(squeeze(self, dim));
}
Tensor unsqueeze_copy(Arg self, std::int64_t dim) {
  const SiteScope scope(self.site);
  return clone(unsqueeze(self, dim));
}
Tensor select_copy(Arg self, std::int64_t dim, std::int64_t index) {
  const SiteScope scope(self.site);
  return clone(select(self, dim, index));
}
Tensor unfold_copy(Arg self, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  const SiteScope scope(self.site);
  return self.tensor->unfold(dimension, size, step).clone(MemoryFormat::Contiguous);
}
Tensor detach_copy(Arg self) {
  const SiteScope scope(self.site);
  return self.tensor->detach().clone();
}
Tensor as_strided_scatter(Arg self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<std::int64_t> storage_offset) {
  const SiteScope scope(self.site);
  const Tensor result = self.tensor->clone(MemoryFormat::Contiguous);
  GROOVE_CHECK(checked("as_strided_scatter", src).geometry.sizes == Shape(size),
               "as_strided_scatter: src is {}, the view {}", to_string(type_of(src).sizes),
               to_string(size));
  result.as_strided(size, stride, storage_offset).copy_(src);
  return result;
}

bool is_nonzero(Arg self) {
  const SiteScope scope(self.site);
  const std::int64_t count = checked("is_nonzero", *self.tensor).numel;
  GROOVE_CHECK(count == 1, "is_nonzero: {} elements; the truth of one can be asked", count);
  return ne(*self.tensor, 0).item<bool>();
}
bool DataMethods::is_nonzero(Site site) const { return groove::is_nonzero({self(), site}); }
Tensor _shape_as_tensor(Arg self) {
  const SiteScope scope(self.site);
  const Shape& sizes = checked("_shape_as_tensor", *self.tensor).geometry.sizes;
  return tensor(std::vector<std::int64_t>(sizes.begin(), sizes.end()), kLong);
}
std::vector<Tensor> nonzero_numpy(Arg self) {
  const SiteScope scope(self.site);
  const bool is_number = checked("nonzero_numpy", *self.tensor).geometry.sizes.empty();
  return unbind(nonzero(is_number ? unsqueeze(self, 0) : *self.tensor), 1);
}

// The logarithm may be a unit off where a mantissa is near 1; 2^e is applied in two parts, as it
// may not be finite itself.
std::tuple<Tensor, Tensor> frexp(Arg self) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("frexp", *self.tensor).dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "frexp: not defined for {} tensors; convert to a floating dtype", name(dtype));
  const Tensor x = self.tensor->to(kDouble), size = abs(x);
  const Tensor is_special = logical_or(eq(size, 0), logical_not(isfinite(x)));
  const Tensor about = where(is_special, 0, floor(log2(where(is_special, 1, size))) + 1);
  const Tensor half = floor(about / 2);
  const Tensor near = size * exp2(-half) * exp2(half - about);
  const Tensor shift = where(is_special, 0, ge(near, 1).to(kDouble) - lt(near, 0.5).to(kDouble));
  const Tensor mantissa = where(is_special, x, copysign(near * exp2(-shift), x));
  return {mantissa.to(dtype), (about + shift).to(kInt)};
}

Tensor vander(Arg x, std::optional<std::int64_t> N, bool increasing) {
  const SiteScope scope(x.site);
  const Shape sizes = checked("vander", *x.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 1, "vander: x is {}; it must have one axis", to_string(sizes));
  const std::int64_t columns = N.value_or(sizes[0]);
  GROOVE_CHECK(columns >= 0, "vander: N is {}; it must not be negative", columns);
  const ScalarType dtype =
      is_floating(type_of(*x.tensor).dtype) || is_complex(type_of(*x.tensor).dtype)
          ? type_of(*x.tensor).dtype
          : kLong;
  const Tensor base = x.tensor->to(dtype);
  Tensors powers;
  Tensor power = ones(sizes, dtype);
  for (std::int64_t i = 0; i < columns; ++i) {
    powers.push_back(power);
    if (i + 1 < columns) power = power * base;
  }
  if (!increasing) std::reverse(powers.begin(), powers.end());
  return powers.empty() ? empty({sizes[0], 0}, dtype) : stack(powers, 1);
}

namespace {

Tensor counted(const char* op, const Tensor& x, const Tensor& edges,
               const std::optional<Tensor>& weight, bool density) {
  const ScalarType dtype = type_of(x).dtype;
  const std::int64_t bins = edges.numel() - 1;
  GROOVE_CHECK(!weight || type_of(*weight).sizes == type_of(x).sizes,
               "{}: weight {} does not fit self {}", op, to_string(type_of(*weight).sizes),
               to_string(type_of(x).sizes));
  const Tensor flat = flatten(x.detach());
  const Tensor inside = logical_and(ge(flat, edges.select(0, 0)), le(flat, edges.select(0, bins)));
  const Tensor place =
      clamp(searchsorted(edges.contiguous(), flat.contiguous(), false, true) - 1, 0, bins - 1);
  Tensor share = inside.to(dtype);
  if (weight) share = share * flatten(weight->detach());
  const Tensor counts = index_add(zeros({bins}, dtype), 0, place, share);
  return density ? counts / sum(counts) / diff(edges) : counts;
}

}  // namespace

std::tuple<Tensor, Tensor> histogram(Arg self, std::int64_t bins,
                                     std::optional<ArrayRef<double>> range,
                                     const std::optional<Tensor>& weight, bool density) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("histogram", *self.tensor).dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "histogram: not defined for {} tensors; convert to a floating "
                  "dtype",
                  name(dtype));
  GROOVE_CHECK(bins > 0, "histogram: {} bins; there must be at least one", bins);
  GROOVE_CHECK(!range || (range->size() == 2 && (*range)[0] <= (*range)[1]),
               "histogram: the range must be two numbers that ascend");
  double low = range ? (*range)[0] : 0, high = range ? (*range)[1] : 0;
  if (!range && self.tensor->numel() > 0) {
    const auto [least, greatest] = aminmax(self.tensor->detach());
    low = least.item<double>();
    high = greatest.item<double>();
  }
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const Tensor edges = linspace(low, high, bins + 1, dtype);
  return {counted("histogram", *self.tensor, edges, weight, density), edges};
}
std::tuple<Tensor, Tensor> histogram(Arg self, const Tensor& bins,
                                     const std::optional<Tensor>& weight, bool density) {
  const SiteScope scope(self.site);
  checked("histogram", *self.tensor);
  const Shape sizes = checked("histogram", bins).geometry.sizes;
  GROOVE_CHECK(
      sizes.size() == 1 && sizes[0] > 1 && type_of(bins).dtype == type_of(*self.tensor).dtype,
      "histogram: the edges are {} {}; they must be {} and at least two on one axis",
      name(type_of(bins).dtype), to_string(sizes), name(type_of(*self.tensor).dtype));
  return {counted("histogram", *self.tensor, bins, weight, density), bins};
}

}  // namespace groove
