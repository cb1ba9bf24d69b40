// asinh: the number whose sinh is self. Of a = |self| it is log1p(a + a^2 / (1 + sqrt(a^2 + 1))),
// which keeps the digits of small numbers.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

constexpr double kLog2 = 0x1.62e42fefa39efp-1;

kernels::Expr body(kernels::Expr narrow) {
  const kernels::Expr x = convert(narrow, kDouble), a = kernels::abs(x), z = a * a;
  const kernels::Expr near = log1p(a + z / (sqrt(z + 1.0) + 1.0));
  // squares of what is beyond would overflow, and change nothing
  const kernels::Expr size = select(gt(a, 0x1p28), log(a) + kLog2, near);
  const kernels::Expr result = select(eq(x, 0.0), x, select(lt(x, 0.0), -size, size));
  return convert(result, narrow.dtype());
}

const Op& op = define(UnarySpec{
    .name = "asinh",
    .body = body,
    .gradient =
        [](const Grad& g) { return Tensors{mul(g.cotangent(), rsqrt(square(g.input(0)) + 1))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_arc_sine>,
    .reference = [](double x) { return std::asinh(x); },
    .domain = {-6, 6},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 4,
});

}  // namespace

Tensor asinh(Arg self) { return call(op, self); }
Tensor ElementwiseMethods::asinh(Site site) const { return call(op, {self(), site}); }
Tensor& ElementwiseMethods::asinh_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
