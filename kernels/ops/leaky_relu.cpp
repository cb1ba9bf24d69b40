// leaky_relu: self where positive, else a multiple of it.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(ScalarSpec{
    .name = "leaky_relu",
    .body =
        [](kernels::Expr x, kernels::Expr negative_slope) {
          return select(gt(x, 0.0), x, x * negative_slope);
        },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          return Tensors{where(gt(x, 0), g.cotangent(), mul(g.cotangent(), g.numbers[0]))};
        },
    .saves_input = true,
    .reference = [](double x, double negative_slope) { return x > 0 ? x : x * negative_slope; },
    .type = floating_only,
    .numbers = {0.25, 1.5},
    .dtypes = floating_dtypes(),
    .tolerance_ulp = 2,
});

}  // namespace

Tensor leaky_relu(Arg self, Scalar negative_slope) { return call(op, self, negative_slope); }

}  // namespace groove
