// lt: is self less than other? A bool tensor.
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "lt",
    .body = [](kernels::Expr a, kernels::Expr b) { return kernels::lt(a, b); },
    .reference = [](double a, double b) -> double { return a < b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "lt_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return kernels::lt(x, number); },
    .reference = [](double a, double b) -> double { return a < b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor lt(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor lt(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor operator<(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator<(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator<(Scalar a, Arg b) {
  const CallFrame frame(b.site);
  return gt(b, a);
}

Tensor MathMethods::lt(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::lt(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::lt_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::lt_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
