// square: self * self.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "square",
    .body = [](kernels::Expr x) { return x * x; },
    .gradient = [](const Grad& g) { return Tensors{mul(mul(g.cotangent(), g.input(0)), 2)}; },
    .saves_input = true,
    .reference = [](double x) { return x * x; },
    .type = numeric_result,
    .dtypes = {kFloat, kDouble, kLong},
    .tolerance_ulp = 1,
});

}  // namespace

Tensor square(Arg self) { return call(op, self); }
Tensor MathMethods::square(Site site) const { return call(op, {self(), site}); }

}  // namespace groove
