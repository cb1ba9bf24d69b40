// atanh: the number whose tanh is self; infinite at -1 and 1, NaN beyond. Of a = |self| it is
// log1p(2 a / (1 - a)) / 2, which keeps the digits of small numbers.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/complex_inverses.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

kernels::Expr body(kernels::Expr narrow) {
  const kernels::Expr x = convert(narrow, kDouble), a = kernels::abs(x);
  const kernels::Expr size = log1p(a * 2.0 / (1.0 - a)) * 0.5;
  const kernels::Expr nowhere = x.builder().constant(kDouble, NAN);
  const kernels::Expr result = select(eq(x, 0.0), x, select(lt(x, 0.0), -size, size));
  return convert(select(le(a, 1.0), result, nowhere), narrow.dtype());
}

const Op& op = define(UnarySpec{
    .name = "atanh",
    .body = body,
    .gradient = [](const Grad& g) { return Tensors{div(g.cotangent(), 1 - square(g.input(0)))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_arc_tangent>,
    .reference = [](double x) { return std::atanh(x); },
    .domain = {-0.9, 0.9},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 4,
});

}  // namespace

Tensor atanh(Arg self) { return call(op, self); }
Tensor ElementwiseMethods::atanh(Site site) const { return call(op, {self(), site}); }
Tensor& ElementwiseMethods::atanh_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
