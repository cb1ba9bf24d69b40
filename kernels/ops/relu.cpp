// relu: self where positive or NaN, else 0.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "relu",
    .body =
        [](kernels::Expr x) { return select(le(x, 0.0), x.builder().constant(x.dtype(), 0), x); },
    .gradient =
        [](const Grad& g) { return Tensors{masked_fill(g.cotangent(), le(g.output(), 0), 0)}; },
    .saves_output = true,
    .reference = [](double x) { return x <= 0 ? 0 : x; },
    .type = numeric_result,
    .dtypes = numeric_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor relu(Arg self) { return call(op, self); }
Tensor MathMethods::relu(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::relu_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
