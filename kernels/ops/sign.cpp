// sign: -1, 0 or 1; 0 for NaN.
#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "sign",
    .body =
        [](kernels::Expr x) {
          if (x.dtype() == kBool) return x;
          const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
          return select(gt(x, 0.0), literal(1), select(lt(x, 0.0), literal(-1), literal(0)));
        },
    .gradient = [](const Grad& g) { return Tensors{zeros_like(g.cotangent())}; },
    .complex = complex_rules::of_each<complex_rules::direction>,
    .reference = [](double x) -> double { return x > 0 ? 1 : x < 0 ? -1 : 0; },
    .type = same_as_input,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor sign(Arg self) { return call(op, self); }
Tensor MathMethods::sign(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::sign_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
