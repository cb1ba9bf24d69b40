// smooth_l1_loss: squares near 0, distances beyond beta.
#include <cmath>

#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

const Op& op = define(ElementwiseLoss{
    .name = "smooth_l1_loss",
    .loss =
        [](const Tensor& input, const Tensor& target, double beta) {
          const Tensor d = abs(input - target);
          if (beta == 0) return d;
          return where(lt(d, beta), square(d) * (0.5 / beta), d - 0.5 * beta);
        },
    .slopes =
        [](const Tensor& input, const Tensor& target, double beta, ArrayRef<bool> needs) {
          const Tensor d = input - target;
          const Tensor slope = beta == 0 ? sign(d) : where(lt(abs(d), beta), d / beta, sign(d));
          return Tensors{slope, needs[1] ? neg(slope) : Tensor()};
        },
    .reference =
        [](double input, double target, double beta) {
          const double d = std::fabs(input - target);
          return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
        },
    .parameter_name = "beta",
    .parameters = {1, 0.5, 0},
});

}  // namespace

Tensor smooth_l1_loss(Arg input, const Tensor& target, std::int64_t reduction, double beta) {
  const CallFrame frame(input.site);
  GROOVE_CHECK(beta >= 0, "smooth_l1_loss: beta {} must not be negative", beta);
  warn_where_broadcast("smooth_l1_loss", input, target);
  return call(op, {*input.tensor, target}, input.site, loss_attrs(reduction, beta));
}

}  // namespace groove
