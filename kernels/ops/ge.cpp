// ge: is self greater or equal to other? A bool tensor.
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "ge",
    .body = [](kernels::Expr a, kernels::Expr b) { return kernels::ge(a, b); },
    .reference = [](double a, double b) -> double { return a >= b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "ge_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return kernels::ge(x, number); },
    .reference = [](double a, double b) -> double { return a >= b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor ge(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor ge(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor operator>=(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator>=(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator>=(Scalar a, Arg b) {
  const CallFrame frame(b.site);
  return le(b, a);
}

Tensor MathMethods::ge(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::ge(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::ge_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::ge_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
