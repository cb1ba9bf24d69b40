// erfc: 1 - erf(self) without cancellation.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "erfc",
    .body = [](kernels::Expr x) { return kernels::erfc(x); },
    .gradient =
        [](const Grad& g) {
          // -2 / sqrt(pi)
          const Tensor slope = mul(exp(neg(square(g.input(0)))), -M_2_SQRTPI);
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_input = true,
    .reference = [](double x) { return std::erfc(x); },
});

}  // namespace

Tensor erfc(Arg self) { return call(op, self); }
Tensor MathMethods::erfc(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::erfc_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
