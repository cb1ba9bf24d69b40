// l1_loss: distances, their mean or sum.
#include <cmath>

#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "l1_loss",
    .loss =
        [](const Tensor& input, const Tensor& target, double) {
          return abs(input - target);
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double, ArrayRef<bool> needs) {
          const Tensor slope = sign(input - target);
          return Tensors{slope, needs[1] ? neg(slope) : Tensor()};
        },
    .reference =
        [](double input, double target, double) {
          return std::fabs(input - target);
        },
});

}  // namespace

Tensor l1_loss(Arg input, const Tensor& target, std::int64_t reduction) {
  const CallFrame frame(input.site);
  warn_where_broadcast("l1_loss", input, target);
  return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction));
}

}  // namespace groove
