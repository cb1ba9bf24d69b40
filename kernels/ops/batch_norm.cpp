// batch_norm: each channel (axis 1) less its mean and over its standard deviation, over all images
// and places. The statistics of a training step are results of the op, from which the running ones
// follow by ordinary in-place ops.
#include <cmath>

#include "groove/autograd.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/channels.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kInput, kWeight, kBias };
enum { kResult, kMean, kVariance, kInverse };  // outputs; the inverse of the standard deviation

Shape channel_shape(const Type& input) {
  Shape sizes(input.sizes.size(), 1);
  sizes[1] = input.sizes[1];
  return sizes;
}
double count_of(const Type& input) {
  const std::int64_t channels = std::max<std::int64_t>(1, input.sizes[1]);
  return static_cast<double>(element_count(input.sizes) / channels);
}

void check_channels(const Signature& s, std::size_t first) {
  const Type& input = s.inputs[kInput];
  GROOVE_CHECK_AS(NotImplementedError, is_floating(input.dtype),
                  "batch_norm: not defined for {} tensors", name(input.dtype));
  GROOVE_CHECK(input.sizes.size() >= 2,
               "batch_norm: input {} has no channels; it must be [N, C, …]",
               to_string(input.sizes));
  for (std::size_t i = first; i < s.inputs.size(); ++i) {
    const Type& type = s.inputs[i];
    GROOVE_CHECK(type.dtype == ScalarType::Undefined ||
                     (type.sizes == Shape{input.sizes[1]} && type.dtype == input.dtype),
                 "batch_norm: {} of {} does not fit the {} channels of an input of {}",
                 to_string(type.sizes), name(type.dtype), input.sizes[1], name(input.dtype));
  }
}

// (x - mean) * (inverse * weight) + bias
Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& inverse, const Tensor& weight,
                  const Tensor& bias) {
  const std::size_t rank = type_of(x).sizes.size();
  Tensor y = (x - mean) * (weight.defined() ? inverse * as_channels(weight, rank) : inverse);
  return bias.defined() ? y + as_channels(bias, rank) : y;
}

// cotangent, input, weight, mean, inverse -> gradients of input, weight, bias. With n = (x - mean)
// * inverse: weight * inverse * (c - mean(c) - n * mean(c * n)).
const Op& op_backward = define({
    .name = "batch_norm_backward",
    .kind = OpKind::kComposite,
    .inputs = 5,
    .outputs = 3,
    .type = [](const Signature& s) -> TypeResult {
      const Type& x = s.inputs[1];
      const Type channels{x.dtype, channel_shape(x)};
      return {{x, channels, channels}, x.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor &c = inputs[0], &weight = inputs[2], &inverse = inputs[4];
          const std::size_t rank = s.inputs[1].sizes.size();
          const double count = count_of(s.inputs[1]);
          const Tensor n = (inputs[1] - inputs[3]) * inverse;
          const Tensor of_bias = channel_sum(c), of_weight = channel_sum(c * n);
          const Tensor scale = weight.defined() ? inverse * as_channels(weight, rank) : inverse;
          const Tensor of_input = scale * (c - of_bias / count - n * (of_weight / count));
          return Tensors{of_input, of_weight, of_bias};
        }}),
    .has_inplace = false,
});

Tensors gradient(const Grad& g) {
  const Tensor &x = g.input(kInput), &weight = g.input(kWeight);
  const Tensor &mean = g.output(kMean), &inverse = g.output(kInverse);
  Tensors result(3);
  if (g.cotangent().defined()) {
    const Tensor operands[] = {g.cotangent(), x, weight, mean, inverse};
    const Attrs none{};
    dispatch(Call{&op_backward, operands, &none, {}, Site::current()}, result.data());
    for (const std::size_t i : {kWeight, kBias})
      result[i] = g.needs[i] ? result[i].reshape(g.input_types[i].sizes) : Tensor();
  }
  if (!g.needs[kInput]) return result;
  // The statistics are results as well: second derivatives come in through them.
  const double count = count_of(g.input_types[kInput]);
  Tensor through;
  const auto add_through = [&](const Tensor& part) {
    through = through.defined() ? through + part : part;
  };
  if (g.cotangents[kMean].defined()) add_through(g.cotangents[kMean] / count + zeros_like(x));
  if (g.cotangents[kVariance].defined())
    add_through((x - mean) * (g.cotangents[kVariance] * (2 / count)));
  if (g.cotangents[kInverse].defined()) {
    const Tensor slope = g.cotangents[kInverse] * square(inverse) * inverse / -count;
    add_through((x - mean) * slope);
  }
  if (through.defined()) {
    through = through.to(g.input_types[kInput].dtype);
    result[kInput] = result[kInput].defined() ? result[kInput] + through : through;
  }
  return result;
}

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  std::vector<Reference> results;
  for (const Type& type : s.op.type(s).outputs) results.push_back({type, {}});
  const Shape& sizes = inputs[kInput].type.sizes;
  const double count = count_of(inputs[kInput].type);
  const auto channels = static_cast<std::size_t>(sizes[1]);
  std::vector<double> mean(channels), variance(channels);
  std::size_t at = 0;
  for_each_index(sizes, [&](const Shape& index) {
    mean[static_cast<std::size_t>(index[1])] += inputs[kInput].values[at++] / count;
  });
  at = 0;
  for_each_index(sizes, [&](const Shape& index) {
    const auto c = static_cast<std::size_t>(index[1]);
    variance[c] += std::pow(inputs[kInput].values[at++] - mean[c], 2) / count;
  });
  for (std::size_t c = 0; c < channels; ++c) {
    results[kMean].values.push_back(mean[c]);
    results[kVariance].values.push_back(variance[c]);
    results[kInverse].values.push_back(1 / std::sqrt(variance[c] + s.attr().real(0)));
  }
  at = 0;
  for_each_index(sizes, [&](const Shape& index) {
    const auto c = static_cast<std::size_t>(index[1]);
    double y = (inputs[kInput].values[at++] - mean[c]) * results[kInverse].values[c];
    if (!inputs[kWeight].values.empty()) y *= inputs[kWeight].values[c];
    if (!inputs[kBias].values.empty()) y += inputs[kBias].values[c];
    results[kResult].values.push_back(y);
  });
  return results;
}

const Op& op = define({
    .name = "batch_norm",
    .kind = OpKind::kComposite,
    .inputs = 3,
    .outputs = 4,
    .attributes = {{"eps", AttrType::kDouble}},
    .type = [](const Signature& s) -> TypeResult {
      check_channels(s, kWeight);
      const Type& input = s.inputs[kInput];
      // Statistics keep the accuracy they have.
      const Type channels{ComputeDtype(input.dtype), channel_shape(input)};
      return {{input, channels, channels, channels}, input.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const double count = count_of(s.inputs[kInput]);
          const Tensor& x = inputs[kInput];
          const Tensor average = channel_sum(x) / count;
          const Tensor variance = channel_sum(square(x - average)) / count;
          const Tensor inverse = rsqrt(variance + s.attr().real(0));
          return Tensors{normalized(x, average, inverse, inputs[kWeight], inputs[kBias]), average,
                         variance, inverse};
        }}),
    .gradient = gradient,
    .saves_inputs = 3,  // the bias is not read
    .saves_outputs = 1 << kMean | 1 << kInverse,
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference = reference,
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes : {Shape{4, 2}, Shape{2, 2, 3}, Shape{5, 3, 4, 6}, Shape{3, 1, 9},
                                     Shape{2, 3, 20, 30}, Shape{200, 3}}) {
            for (const bool has_weights : {false, true}) {
              const Type channels =
                  has_weights ? Type{dtype, {sizes[1]}} : Type{ScalarType::Undefined, {}};
              samples.push_back(
                  {{{dtype, sizes}, channels, channels}, Attrs().add_double(1e-2), {}});
            }
          }
          return samples;
        },
    .tolerance_ulp = 256,
});

// Over given statistics: input, mean, variance, weight, bias.
const Op& op_fixed = define({
    .name = "batch_norm_fixed",
    .kind = OpKind::kComposite,
    .inputs = 5,
    .attributes = {{"eps", AttrType::kDouble}},
    .type = [](const Signature& s) -> TypeResult {
      check_channels(s, 1);
      return {{s.inputs[kInput]}, s.inputs[kInput].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const std::size_t rank = s.inputs[kInput].sizes.size();
          const Tensor inverse = rsqrt(as_channels(inputs[2], rank) + s.attr().real(0));
          return Tensors{normalized(inputs[kInput], as_channels(inputs[1], rank), inverse,
                                    inputs[3], inputs[4])};
        }}),
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::size_t at = 0;
          return std::vector<Reference>{make_reference(s.inputs[kInput], [&](const Shape& index) {
            const auto c = static_cast<std::size_t>(index[1]);
            double y = (inputs[kInput].values[at++] - inputs[1].values[c]) /
                       std::sqrt(inputs[2].values[c] + s.attr().real(0));
            if (!inputs[3].values.empty()) y *= inputs[3].values[c];
            if (!inputs[4].values.empty()) y += inputs[4].values[c];
            return y;
          })};
        },
    .domain = {0.25, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Type three{dtype, {3}}, none{ScalarType::Undefined, {}};
          return std::vector<Sample>{
              {{{dtype, {2, 3, 4, 5}}, three, three, three, three}, Attrs().add_double(1e-3), {}},
              {{{dtype, {4, 3}}, three, three, none, none}, Attrs().add_double(1e-3), {}}};
        },
    .tolerance_ulp = 64,
});

void move_towards(const Tensor& running, const Tensor& value, double momentum, Site site) {
  running.mul_(1 - momentum, site);
  running.add_(value.reshape({-1}, site).to(running.scalar_type(), false, false, site) * momentum,
               1, site);
}

}  // namespace

Tensor batch_norm(Arg input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps, bool) {
  const CallFrame frame(input.site);
  const Site site = input.site;
  const Attrs attrs = Attrs().add_double(eps);
  const Shape sizes = checked("batch_norm", *input.tensor).geometry.sizes;
  if (!training) {
    GROOVE_CHECK(running_mean.defined() && running_var.defined(),
                 "batch_norm: outside training it needs running_mean and running_var");
    return call(op_fixed, {*input.tensor, running_mean, running_var, weight, bias}, site, attrs);
  }
  const Tensor operands[] = {*input.tensor, weight, bias};
  Tensor outputs[4];
  dispatch(Call{&op, operands, &attrs, {}, site}, outputs);
  if (running_mean.defined() || running_var.defined()) {
    const NoGradGuard no_grad;
    const double count = count_of(type_of(*input.tensor));
    if (running_mean.defined()) move_towards(running_mean, outputs[kMean], momentum, site);
    if (running_var.defined())
      move_towards(running_var, outputs[kVariance] * (count / (count - 1)), momentum, site);
  }
  return outputs[kResult];
}

Tensor group_norm(Arg input, std::int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  const CallFrame frame(input.site);
  const Site site = input.site;
  const Shape sizes = checked("group_norm", *input.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2 && num_groups > 0 && sizes[1] % num_groups == 0,
               "group_norm: the channels (axis 1) of {} cannot be divided into {} groups",
               to_string(sizes), num_groups);
  const std::int64_t row =
      element_count(IntArrayRef(sizes).slice(1, sizes.size() - 1)) / num_groups;
  const Tensor rows = reshape(input, {sizes[0], num_groups, row});
  Tensor y = reshape({layer_norm({rows, site}, row, Tensor(), Tensor(), eps), site}, sizes);
  const auto is_alike = [&y](const Tensor& x) {
    return x.defined() && type_of(x).dtype == type_of(y).dtype;
  };
  if (is_alike(weight) && is_alike(bias)) return scale_channels({y, site}, weight, bias);
  if (weight.defined()) y = mul({y, site}, as_channels(weight, sizes.size()));
  return bias.defined() ? add_channels({y, site}, bias) : y;
}

}  // namespace groove
