// elu: self where positive, else alpha * (exp(self) - 1).
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(ScalarSpec{
    .name = "elu",
    .body =
        [](kernels::Expr x, kernels::Expr alpha) {
          return select(gt(x, 0.0), x, kernels::expm1(x) * alpha);
        },
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

Tensor elu(Arg self, Scalar alpha) { return call(op, self, alpha); }

}  // namespace groove
