// binary_cross_entropy_with_logits: of logits, without overflow.
#include <algorithm>
#include <cmath>
#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "binary_cross_entropy_with_logits",
    .loss =
        [](const Tensor& input, const Tensor& target, double) {
          return clamp_min(input, 0) - input * target + log1p(exp(neg(abs(input))));
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double, ArrayRef<bool> needs) {
          Tensors result(2);
          if (needs[0]) result[0] = sigmoid(input) - target;
          if (needs[1]) result[1] = neg(input);
          return result;
        },
    .reference =
        [](double input, double target, double) {
          return std::max(input, 0.0) - input * target + std::log1p(std::exp(-std::fabs(input)));
        },
    .domain = {-3, 3},
});

}  // namespace

Tensor binary_cross_entropy_with_logits(Arg input, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, std::int64_t reduction) {
  const CallFrame frame(input.site);
  const char* name = "binary_cross_entropy_with_logits";
  GROOVE_CHECK(
      checked(name, *input.tensor).geometry.sizes == checked(name, target).geometry.sizes,
      "{}: input {} and target {} must have one shape", name,
      to_string(type_of(*input.tensor).sizes), to_string(type_of(target).sizes));
  if (!weight.defined() && !pos_weight.defined())
    return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction));
  const SiteScope scope(input.site);
  check_reduction(name, reduction);
  const Tensor& x = *input.tensor;
  Tensor losses;
  if (pos_weight.defined()) {
    // From this threshold on, softplus is its argument even in f64.
    const Tensor positive = softplus(neg(x), 1, 40), negative = softplus(x, 1, 40);
    losses = pos_weight * target * positive + (1 - target) * negative;
  } else {
    losses = call(op, {x, target}, input.site, loss_attrs(Reduction::None));
  }
  return reduce_loss(weight.defined() ? losses * weight : losses, reduction);
}

}  // namespace groove
