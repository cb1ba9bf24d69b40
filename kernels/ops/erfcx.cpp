// special_erfcx: exp(self^2) erfc(self), of which one factor overflows where the other underflows;
// far out by the asymptotic series (Abramowitz and Stegun 7.1.23).
#include <cmath>
#include <numbers>

#include "groove/ops/special_functions.h"
#include "kernels/functions/parts.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;

Expr body(Expr narrow) {
  constexpr double kFar = 20;
  const Expr x = convert(narrow, kDouble);
  const Expr near = kernels::min(x, x.builder().constant(kDouble, kFar));
  // The rounding error of the square is what the exponential makes much of.
  const kernels::functions::Pair square = kernels::functions::exact_product(near, near);
  const Expr growing = kernels::exp(square.high), shrinking = kernels::erfc(near);
  const Expr product = fma(growing * shrinking, square.low, growing * shrinking);
  const Expr finite = select(kernels::lt(growing, INFINITY), product, growing);
  const Expr far = kernels::max(x, x.builder().constant(kDouble, kFar));
  const Expr z = 0.5 / (far * far);
  const Expr series = kernels::functions::polynomial(
      z, {1, -1, 3, -15, 105, -945, 10395, -135135});  // (-1)^k (2 k - 1)!!
  const Expr tail = series / far * std::numbers::inv_sqrtpi;
  const Expr result = select(kernels::gt(x, kFar), tail, finite);
  return convert(select(is_nan(x), x, result), narrow.dtype());
}

const Op& op = define(UnarySpec{
    .name = "special_erfcx",
    .body = body,
    .gradient =
        [](const Grad& g) {
          const Tensor slope = mul(g.input(0), g.output()) * 2 - 2 * std::numbers::inv_sqrtpi;
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_input = true,
    .saves_output = true,
    .reference =
        [](double x) {
          const auto wide = static_cast<long double>(x);
          return static_cast<double>(std::exp(wide * wide) * std::erfc(wide));
        },
    .domain = {-4, 30},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 8,
});

}  // namespace

Tensor special_erfcx(Arg self) { return call(op, self); }

}  // namespace groove
