// minimum: the smaller operand, NaN if either is; a tie shares its gradient between both.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "minimum",
    .body =
        [](kernels::Expr a, kernels::Expr b) {
          return is_floating(a.dtype()) ? kernels::min_nan(a, b) : kernels::min(a, b);
        },
    .gradient =
        [](const Grad& g) {
          const Tensor &a = g.input(0), &b = g.input(1);
          const Tensor shared = where(eq(a, b), mul(g.cotangent(), 0.5), g.cotangent());
          Tensors result(2);
          if (g.needs[0])
            result[0] = reduced_to(masked_fill(shared, gt(a, b), 0), g.input_types[0]);
          if (g.needs[1])
            result[1] = reduced_to(masked_fill(shared, lt(a, b), 0), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a,
                    double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b); },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor minimum(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor min(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor MathMethods::minimum(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ReductionMethods::min(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}

}  // namespace groove
