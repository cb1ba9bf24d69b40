// gt: is self greater than other? A bool tensor.
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "gt",
    .body = [](kernels::Expr a, kernels::Expr b) { return kernels::gt(a, b); },
    .reference = [](double a, double b) -> double { return a > b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "gt_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return kernels::gt(x, number); },
    .reference = [](double a, double b) -> double { return a > b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor gt(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor gt(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor operator>(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator>(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator>(Scalar a, Arg b) {
  const CallFrame frame(b.site);
  return lt(b, a);
}

Tensor MathMethods::gt(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::gt(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::gt_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::gt_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
