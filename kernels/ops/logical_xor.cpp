// logical_xor: is just one true? Anything but 0 is.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "logical_xor",
    .body = [](kernels::Expr a, kernels::Expr b) { return convert(a, kBool) ^ convert(b, kBool); },
    .complex = complex_rules::on_truths,
    .reference = [](double a, double b) -> double { return (a != 0) != (b != 0); },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
});

}  // namespace

Tensor logical_xor(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor MathMethods::logical_xor(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor& InPlaceMethods::logical_xor_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}

}  // namespace groove
