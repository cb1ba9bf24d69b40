// tan: the tangent of radians.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "tan",
    .body = [](kernels::Expr x) { return kernels::tan(x); },
    .gradient =
        [](const Grad& g) { return Tensors{mul(g.cotangent(), add(square(g.output(0)), 1))}; },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::tangent>,
    .reference = [](double x) { return std::tan(x); },
    .domain = {-1.3, 1.3},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor tan(Arg self) { return call(op, self); }
Tensor MathMethods::tan(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::tan_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
