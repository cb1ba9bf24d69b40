// acos: the angle in [0, pi] of a cosine; NaN outside [-1, 1].
#include <cmath>

#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "acos",
    .body = [](kernels::Expr x) { return kernels::acos(x); },
    .gradient =
        [](const Grad& g) {
          return Tensors{neg(mul(g.cotangent(), rsqrt(1 - square(g.input(0)))))};
        },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::arc_cosine>,
    .reference = [](double x) { return std::acos(x); },
    .domain = {-0.9, 0.9},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor acos(Arg self) { return call(op, self); }
Tensor MathMethods::acos(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::acos_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
