// erf: the error function.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "erf",
    .body = [](kernels::Expr x) { return kernels::erf(x); },
    .gradient =
        [](const Grad& g) {
          // 2 / sqrt(pi)
          const Tensor slope = mul(exp(neg(square(g.input(0)))), M_2_SQRTPI);
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_input = true,
    .reference = [](double x) { return std::erf(x); },
});

}  // namespace

Tensor erf(Arg self) { return call(op, self); }
Tensor MathMethods::erf(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::erf_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
