// neg: the opposite; integers wrap.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "neg",
    .body = [](kernels::Expr x) { return -x; },
    .gradient = [](const Grad& g) { return Tensors{neg(g.cotangent())}; },
    .complex = complex_rules::on_pairs,
    .reference = [](double x) { return -x; },
    .type = numeric_result,
    .dtypes = numeric_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor neg(Arg self) { return call(op, self); }
Tensor operator-(Arg a) { return call(op, a); }
Tensor MathMethods::neg(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::neg_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
