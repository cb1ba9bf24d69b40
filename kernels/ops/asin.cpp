// asin: the angle in [-pi/2, pi/2] of a sine; NaN outside [-1, 1].
#include <cmath>

#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "asin",
    .body = [](kernels::Expr x) { return kernels::asin(x); },
    .gradient =
        [](const Grad& g) { return Tensors{mul(g.cotangent(), rsqrt(1 - square(g.input(0))))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::arc_sine>,
    .reference = [](double x) { return std::asin(x); },
    .domain = {-0.9, 0.9},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor asin(Arg self) { return call(op, self); }
Tensor MathMethods::asin(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::asin_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
