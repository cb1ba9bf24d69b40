// cos: the cosine of radians.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "cos",
    .body = [](kernels::Expr x) { return kernels::cos(x); },
    .gradient = [](const Grad& g) { return Tensors{neg(mul(g.cotangent(), sin(g.input(0))))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::cosine>,
    .reference = [](double x) { return std::cos(x); },
    .domain = {-9, 9},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor cos(Arg self) { return call(op, self); }
Tensor MathMethods::cos(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::cos_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
