// acosh: the number of at least 0 whose cosh is self; NaN below 1. With t = self - 1 it is
// log1p(t + sqrt(t (t + 2))), which keeps the digits of numbers near 1.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

constexpr double kLog2 = 0x1.62e42fefa39efp-1;

kernels::Expr body(kernels::Expr narrow) {
  const kernels::Expr x = convert(narrow, kDouble), t = x - 1.0;
  const kernels::Expr near = log1p(t + sqrt(t * (t + 2.0)));
  const kernels::Expr nowhere = x.builder().constant(kDouble, NAN);
  // squares of what is beyond would overflow, and change nothing
  const kernels::Expr result = select(gt(x, 0x1p28), log(x) + kLog2, near);
  return convert(select(ge(x, 1.0), result, nowhere), narrow.dtype());
}

const Op& op = define(UnarySpec{
    .name = "acosh",
    .body = body,
    .gradient =
        [](const Grad& g) { return Tensors{mul(g.cotangent(), rsqrt(square(g.input(0)) - 1))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_arc_cosine>,
    .reference = [](double x) { return std::acosh(x); },
    .domain = {1.2, 6},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 4,
});

}  // namespace

Tensor acosh(Arg self) { return call(op, self); }
Tensor ElementwiseMethods::acosh(Site site) const { return call(op, {self(), site}); }
Tensor& ElementwiseMethods::acosh_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
