// atan2: the angle of the points (other, self), in [-pi, pi].
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "atan2",
    .body = kernels::atan2,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor& y = g.input(0);
          const Tensor& x = g.input(1);
          const Tensor share = div(g.cotangent(), add(square(y), square(x)));
          if (g.needs[0]) result[0] = reduced_to(mul(share, x), g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(neg(mul(share, y)), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double y, double x) { return std::atan2(y, x); },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 2,
});

}  // namespace

Tensor atan2(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor MathMethods::atan2(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor& InPlaceMethods::atan2_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}

}  // namespace groove
