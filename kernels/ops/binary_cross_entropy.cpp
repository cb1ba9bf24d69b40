// binary_cross_entropy: of probabilities; logarithms are at least -100. NaN is an error, as it is in
// LibTorch, whose users know it as the first sign of a diverging model. No producer of floating
// values excludes NaN, so the check always looks.
#include <algorithm>
#include <cmath>

#include "groove/half.h"
#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

double element_at(const TensorImpl& impl, std::int64_t offset) {
  switch (impl.dtype) {
    case kFloat:
      return static_cast<const float*>(impl.data())[offset];
    case kDouble:
      return static_cast<const double*>(impl.data())[offset];
    case kHalf:
      return static_cast<const Half*>(impl.data())[offset];
    default:
      return static_cast<const BFloat16*>(impl.data())[offset];
  }
}

bool is_probability(double value) { return value >= 0 && value <= 1; }

template <typename T>
bool are_probabilities(const T* values, std::int64_t count) {
  bool all = true;
  for (std::int64_t i = 0; i < count; ++i) all &= values[i] >= T(0) && values[i] <= T(1);
  return all;
}

void check_probabilities(const Signature& s, ArrayRef<Tensor> inputs) {
  s.op.type(s);  // dtypes first
  const TensorImpl& impl = *inputs[0].impl();
  if (impl.is_contiguous && impl.dtype == kFloat &&
      are_probabilities(static_cast<const float*>(impl.data()), impl.numel))
    return;
  if (impl.is_contiguous && impl.dtype == kDouble &&
      are_probabilities(static_cast<const double*>(impl.data()), impl.numel))
    return;
  const Shape &sizes = impl.geometry.sizes, &strides = impl.geometry.strides;
  Shape at(sizes.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t n = 0; n < impl.numel; ++n) {
    const double value = element_at(impl, offset);
    GROOVE_CHECK(is_probability(value),
                 "binary_cross_entropy: input {} at position {} is not in [0, 1]; sigmoid() first, "
                 "or binary_cross_entropy_with_logits",
                 std::isnan(value) ? std::nan("") : value, to_string(at));  // a NaN has no sign
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      offset -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

Tensor bounded_log(const Tensor& x) { return clamp_min(log(x), -100); }
Tensor bounded_log1p(const Tensor& x) { return clamp_min(log1p(x), -100); }

const Op& op = define(ElementwiseLoss{
    .name = "binary_cross_entropy",
    .loss =
        [](const Tensor& input, const Tensor& target, double) {
          return (target - 1) * bounded_log1p(neg(input)) - target * bounded_log(input);
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double, ArrayRef<bool> needs) {
          Tensors result(2);
          // the bound on the divisor is LibTorch's
          if (needs[0]) result[0] = (input - target) / clamp_min((1 - input) * input, 1e-12);
          if (needs[1]) result[1] = bounded_log1p(neg(input)) - bounded_log(input);
          return result;
        },
    .reference =
        [](double input, double target, double) {
          return (target - 1) * std::max(std::log1p(-input), -100.0) -
                 target * std::max(std::log(input), -100.0);
        },
    .domain = {0.1, 0.9},
    .check = check_probabilities,
});

// As LibTorch's operator (not its nn::functional), which looks past axes of size 1.
Shape without_ones(IntArrayRef sizes) {
  Shape result;
  for (const std::int64_t size : sizes)
    if (size != 1) result.push_back(size);
  return result;
}

}  // namespace

Tensor binary_cross_entropy(Arg input, const Tensor& target, const Tensor& weight,
                            std::int64_t reduction) {
  const CallFrame frame(input.site);
  const Shape& sizes = checked("binary_cross_entropy", *input.tensor).geometry.sizes;
  if (sizes != checked("binary_cross_entropy", target).geometry.sizes) {
    GROOVE_CHECK(without_ones(sizes) == without_ones(target.impl()->geometry.sizes),
                 "binary_cross_entropy: input {} and target {} must have one shape",
                 to_string(sizes), to_string(target.impl()->geometry.sizes));
    const SiteScope scope(input.site);
    return binary_cross_entropy(input, target.reshape(sizes), weight, reduction);
  }
  if (!weight.defined())
    return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction));
  const SiteScope scope(input.site);
  check_reduction("binary_cross_entropy", reduction);
  const Tensor losses =
      call(op, {*input.tensor, target}, input.site, loss_attrs(Reduction::None));
  return reduce_loss(losses * weight, reduction);
}

}  // namespace groove
