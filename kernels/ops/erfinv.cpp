// erfinv: the x whose erf is self; infinite at -1 and 1, NaN beyond.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

// Newton's method in long double.
double inverse_erf(double x) {
  if (std::fabs(x) > 1) return std::nan("");
  if (std::fabs(x) == 1) return x / 0.0;
  long double y = x;
  for (int i = 0; i < 100; ++i) {
    y += (x - std::erf(y)) * std::exp(y * y) * 0.88622692545275801365L;
  }
  return static_cast<double>(y);
}

const Op& op = define(UnarySpec{
    .name = "erfinv",
    .body = [](kernels::Expr x) { return kernels::erfinv(x); },
    .gradient =
        [](const Grad& g) {
          // sqrt(pi) / 2
          return Tensors{mul(g.cotangent(), mul(exp(square(g.output(0))), 0x1.c5bf891b4ef6bp-1))};
        },
    .saves_output = true,
    .reference = [](double x) { return inverse_erf(x); },
    .domain = {-0.9, 0.9},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 8,
});

}  // namespace

Tensor erfinv(Arg self) { return call(op, self); }
Tensor MathMethods::erfinv(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::erfinv_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
