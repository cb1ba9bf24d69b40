// huber_loss: half squares near 0, straight beyond delta.
#include <cmath>

#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "huber_loss",
    .loss =
        [](const Tensor& input, const Tensor& target, double delta) {
          const Tensor d = abs(input - target);
          return where(lt(d, delta), square(d) * 0.5, (d - 0.5 * delta) * delta);
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double delta, ArrayRef<bool> needs) {
          const Tensor d = input - target;
          const Tensor slope = where(lt(abs(d), delta), d, sign(d) * delta);
          return Tensors{slope, needs[1] ? neg(slope) : Tensor()};
        },
    .reference =
        [](double input, double target, double delta) {
          const double d = std::fabs(input - target);
          return d < delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
        },
    .parameter_name = "delta",
    .parameters = {1, 0.5},
});

}  // namespace

Tensor huber_loss(Arg input, const Tensor& target, std::int64_t reduction, double delta) {
  const CallFrame frame(input.site);
  GROOVE_CHECK(delta > 0, "huber_loss: delta {} must be positive", delta);
  warn_where_broadcast("huber_loss", input, target);
  return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction, delta));
}

}  // namespace groove
