// logical_not: is self 0?
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "logical_not",
    .body = [](kernels::Expr x) { return ~convert(x, kBool); },
    .complex = complex_rules::on_truths,
    .reference = [](double x) -> double { return x == 0; },
    .type = truth_result,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor logical_not(Arg self) { return call(op, self); }
Tensor operator!(Arg a) { return call(op, a); }
Tensor MathMethods::logical_not(Site site) const { return call(op, {self(), site}); }
Tensor& InPlaceMethods::logical_not_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
