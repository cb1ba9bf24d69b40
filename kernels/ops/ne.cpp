// ne: is self different; true for NaN from other? A bool tensor.
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "ne",
    .body = [](kernels::Expr a, kernels::Expr b) { return kernels::ne(a, b); },
    .reference = [](double a, double b) -> double { return a != b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "ne_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return kernels::ne(x, number); },
    .reference = [](double a, double b) -> double { return a != b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor ne(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor ne(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor operator!=(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator!=(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator!=(Scalar a, Arg b) { return call(op_scalar, b, a); }

Tensor MathMethods::ne(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::ne(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::ne_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::ne_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
