// sqrt: the square root, correctly rounded.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "sqrt",
    .body = [](kernels::Expr x) { return kernels::sqrt(x); },
    .gradient = [](const Grad& g) { return Tensors{div(mul(g.cotangent(), 0.5), g.output())}; },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::square_root>,
    .reference = [](double x) { return std::sqrt(x); },
    .domain = {0.1, 8},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 1,
});

}  // namespace

Tensor sqrt(Arg self) { return call(op, self); }
Tensor MathMethods::sqrt(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::sqrt_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
