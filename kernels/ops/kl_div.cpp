// kl_div: what is lost by taking exp(input) for the distribution target.
#include <cmath>

#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "kl_div",
    .loss =
        [](const Tensor& input, const Tensor& target, double log_target) {
          if (log_target != 0) return exp(target) * (target - input);
          const Tensor own = where(eq(target, 0), target, target * log(target));
          return own - target * input;
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double log_target, ArrayRef<bool> needs) {
          Tensors result(2);
          if (log_target != 0) {
            const Tensor weight = exp(target);
            if (needs[0]) result[0] = neg(weight);
            if (needs[1]) result[1] = weight * (target - input + 1);
          } else {
            if (needs[0]) result[0] = neg(target);
            if (needs[1]) result[1] = log(target) + 1 - input;
          }
          return result;
        },
    .reference =
        [](double input, double target, double log_target) {
          if (log_target != 0) return std::exp(target) * (target - input);
          return (target == 0 ? 0 : target * std::log(target)) - target * input;
        },
    .parameter_name = "log_target",
    .parameters = {0, 1},
    .domain = {0.1, 2},
});

}  // namespace

Tensor kl_div(Arg input, const Tensor& target, std::int64_t reduction, bool log_target) {
  const CallFrame frame(input.site);
  return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction, log_target));
}

}  // namespace groove
