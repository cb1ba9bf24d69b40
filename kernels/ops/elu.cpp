// elu: self where positive, else alpha * (exp(self) - 1).
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(ScalarSpec{
    .name = "elu",
    .body = [](kernels::Expr x,
               kernels::Expr alpha) { return select(gt(x, 0.0), x, kernels::expm1(x) * alpha); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          return Tensors{where(gt(x, 0), g.cotangent(), mul(g.cotangent() * exp(x), g.numbers[0]))};
        },
    .saves_input = true,
    .reference = [](double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); },
    .type = floating_only,
    .numbers = {0.25, 1.5},
    .dtypes = floating_dtypes(),
    .tolerance_ulp = 2,
});

}  // namespace

Tensor elu(Arg self, Scalar alpha, Scalar scale, Scalar input_scale) {
  const auto is_one = [](Scalar number) { return number.origin() < 0 && number.to_double() == 1; };
  if (is_one(scale) && is_one(input_scale)) return call(op, self, alpha);
  const SiteScope scope(self.site);
  const Tensor& x = *self.tensor;
  const Tensor negative =
      expm1(masked_fill(x, gt(x, 0), 0) * input_scale);  // finite where it is not taken
  return where(gt(x, 0), x * scale, negative * (alpha.to_double() * scale.to_double()));
}

}  // namespace groove
