// mse_loss: squared differences, their mean or sum.
#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "mse_loss",
    .loss =
        [](const Tensor& input, const Tensor& target, double) { return square(input - target); },
    .slopes =
        [](const Tensor& input, const Tensor& target, double, ArrayRef<bool> needs) {
          const Tensor slope = (input - target) * 2;
          return Tensors{slope, needs[1] ? neg(slope) : Tensor()};
        },
    .reference =
        [](double input, double target, double) { return (input - target) * (input - target); },
});

}  // namespace

Tensor mse_loss(Arg input, const Tensor& target, std::int64_t reduction) {
  const CallFrame frame(input.site);
  warn_where_broadcast("mse_loss", input, target);
  return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction));
}

}  // namespace groove
