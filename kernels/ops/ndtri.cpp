// special_ndtri: where the normal distribution is self. A first value of nine digits (Acklam 2003:
// a rational function of self, or of sqrt(-2 log) in the tails), and one step of Halley's method.
#include <cmath>
#include <numbers>

#include "groove/ops/special_functions.h"
#include "kernels/functions/parts.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;
using kernels::functions::polynomial;

// For p up to 1/2, in f64.
Expr lower_half(Expr p) {
  const Expr q = p - 0.5, r = q * q, t = sqrt(kernels::log(p) * -2.0);
  const Expr centre =
      q *
      polynomial(r, {2.506628277459239e+00, -3.066479806614716e+01, 1.383577518672690e+02,
                     -2.759285104469687e+02, 2.209460984245205e+02, -3.969683028665376e+01}) /
      polynomial(r, {1, -1.328068155288572e+01, 6.680131188771972e+01, -1.556989798598866e+02,
                     1.615858368580409e+02, -5.447609879822406e+01});
  const Expr tail =
      polynomial(t, {2.938163982698783e+00, 4.374664141464968e+00, -2.549732539343734e+00,
                     -2.400758277161838e+00, -3.223964580411365e-01, -7.784894002430293e-03}) /
      polynomial(t, {1, 3.754408661907416e+00, 2.445134137142996e+00, 3.224671290700398e-01,
                     7.784695709041462e-03});
  const Expr x = select(kernels::lt(p, 0.02425), tail, centre);
  // p relative to what it should be, over the density relative to p.
  const Expr excess = kernels::erfc(x * (-1 / std::numbers::sqrt2)) * 0.5 / p - 1.0;
  const Expr density = kernels::exp(fma(x * 0.5, x, kernels::log(p)));
  const Expr step = excess * density * 2.5066282746310005024;  // sqrt(2 pi)
  const Expr improved = x - step / fma(x * 0.5, step, p.builder().constant(kDouble, 1));
  // There 1 - 2 p is exact.
  const Expr middle = kernels::erfinv(1.0 - p * 2.0) * -std::numbers::sqrt2;
  return select(kernels::gt(p, 0.25), middle, improved);
}

Expr body(Expr narrow) {
  const Expr p = convert(narrow, kDouble), complement = 1.0 - p;
  const auto number = [&](double value) { return p.builder().constant(kDouble, value); };
  const Expr is_upper = kernels::gt(p, 0.5);
  const Expr is_inside = kernels::gt(p, 0.0) & kernels::lt(p, 1.0);
  const Expr low = lower_half(select(is_inside, select(is_upper, complement, p), number(0.25)));
  const Expr inside = select(is_upper, -low, low);
  const Expr edge = select(kernels::eq(p, 0.0), number(-INFINITY),
                           select(kernels::eq(p, 1.0), number(INFINITY), number(NAN)));
  return convert(select(is_inside, inside, edge), narrow.dtype());
}

// For tests: between two numbers that close in.
double by_halving(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
  long double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const long double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2_v<long double>) / 2 < p ? low : high) = middle;
  }
  return static_cast<double>(low);
}

const Op& op = define(UnarySpec{
    .name = "special_ndtri",
    .body = body,
    .gradient =
        [](const Grad& g) {
          const Tensor slope = exp(square(g.output()) * 0.5) * std::sqrt(2 * std::numbers::pi);
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_output = true,
    .reference = by_halving,
    .domain = {0.01, 0.49},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 8,
});

}  // namespace

Tensor special_ndtri(Arg self) { return call(op, self); }

}  // namespace groove
