// ne: is self different; true for NaN from other? A bool tensor.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "ne",
    .body = [](kernels::Expr a, kernels::Expr b) { return kernels::ne(a, b); },
    .complex =
        [](const Call& c) {
          const ScalarType part = complex_rules::part_dtype(c);
          const Tensor x = complex_rules::pair_as(c.inputs[0], part);
          return any(ne(x, complex_rules::pair_as(c.inputs[1], part)), -1);
        },
    .reference = [](double a, double b) -> double { return a != b; },
    .type = promoted_bool,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "ne_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return kernels::ne(x, number); },
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[0]);
          return logical_or(ne(z.re, c.numbers[0]), ne(z.im, 0));
        },
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
