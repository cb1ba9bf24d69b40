// cosh: the hyperbolic cosine.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "cosh",
    .body = [](kernels::Expr x) { return kernels::cosh(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), sinh(g.input(0)))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_cosine>,
    .reference = [](double x) { return std::cosh(x); },
    .domain = {-4, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor cosh(Arg self) { return call(op, self); }
Tensor MathMethods::cosh(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::cosh_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
