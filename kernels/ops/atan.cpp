// atan: the angle in [-pi/2, pi/2] of a tangent.
#include <cmath>

#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "atan",
    .body = [](kernels::Expr x) { return kernels::atan(x); },
    .gradient =
        [](const Grad& g) { return Tensors{div(g.cotangent(), add(square(g.input(0)), 1))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::arc_tangent>,
    .reference = [](double x) { return std::atan(x); },
    .domain = {-5, 5},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor atan(Arg self) { return call(op, self); }
Tensor MathMethods::atan(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::atan_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
