// abs: the magnitude; its gradient at 0 is 0.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "abs",
    .body = [](kernels::Expr x) { return x.dtype() == kByte ? x : kernels::abs(x); },
    .gradient =
        [](const Grad& g) {
          const Tensor signed_grad = where(lt(g.input(0), 0), neg(g.cotangent()), g.cotangent());
          return Tensors{masked_fill(signed_grad, eq(g.input(0), 0), 0)};
        },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::magnitude>,
    .reference = [](double x) { return std::fabs(x); },
    .type = numeric_result,
    .dtypes = numeric_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor abs(Arg self) { return call(op, self); }
Tensor MathMethods::abs(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::abs_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
