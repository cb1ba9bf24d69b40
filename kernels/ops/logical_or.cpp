// logical_or: is one true? Anything but 0 is.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "logical_or",
    .body = [](kernels::Expr a, kernels::Expr b) { return convert(a, kBool) | convert(b, kBool); },
    .complex = complex_rules::on_truths,
    .reference = [](double a, double b) -> double { return a != 0 || b != 0; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor logical_or(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor operator||(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor MathMethods::logical_or(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor& InPlaceMethods::logical_or_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}

}  // namespace groove
