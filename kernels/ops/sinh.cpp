// sinh: the hyperbolic sine.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "sinh",
    .body = [](kernels::Expr x) { return kernels::sinh(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), cosh(g.input(0)))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_sine>,
    .reference = [](double x) { return std::sinh(x); },
    .domain = {-4, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor sinh(Arg self) { return call(op, self); }
Tensor MathMethods::sinh(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::sinh_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
