// digamma: the derivative of lgamma.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

// By the recurrence up to 30, then the asymptotic series, in long double.
double psi(double x) {
  long double y = x, sum = 0;
  for (; y < 30; y += 1) sum -= 1 / y;
  const long double z = 1 / (y * y);
  const long double series = z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z / 240)));
  return static_cast<double>(sum + std::log(y) - 1 / (2 * y) - series);
}

const Op& op = define(UnarySpec{
    .name = "digamma",
    .body = [](kernels::Expr x) { return kernels::digamma(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), polygamma(1, g.input(0)))}; },
    .saves_input = true,
    .reference = [](double x) { return psi(x); },
    .domain = {0.3, 6},
    .dtypes = floating_dtypes(),
    .tolerance_ulp = 64,  // near its root
});

}  // namespace

Tensor digamma(Arg self) { return call(op, self); }
Tensor MathMethods::digamma(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::digamma_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
