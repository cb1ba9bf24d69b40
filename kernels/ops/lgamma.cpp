// lgamma: log |gamma(self)|.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "lgamma",
    .body = [](kernels::Expr x) { return kernels::lgamma(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), digamma(g.input(0)))}; },
    .saves_input = true,
    .reference =
        [](double x) { return static_cast<double>(std::lgamma(static_cast<long double>(x))); },
    .domain = {0.3, 6},
    .dtypes = floating_dtypes(),
    .tolerance_ulp = 16,  // near its root
});

}  // namespace

Tensor lgamma(Arg self) { return call(op, self); }
Tensor MathMethods::lgamma(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::lgamma_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
