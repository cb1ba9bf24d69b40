// mul: self * other, with a tensor or a number.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;

Expr product(Expr a, Expr b) { return a.dtype() == kBool ? (a & b) : a * b; }

const Op& op = define(BinarySpec{
    .name = "mul",
    .body = product,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(mul(g.cotangent(), g.input(1)), g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(mul(g.cotangent(), g.input(0)), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .complex =
        [](const Call& c) {
          return complex_rules::product(complex_rules::operand(c, 0), complex_rules::operand(c, 1));
        },
    .reference = [](double a, double b) { return a * b; },
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "mul_scalar",
    .body = product,
    .gradient =
        [](const Grad& g) {
          return Tensors{reduced_to(mul(g.cotangent(), g.numbers[0]), g.input_types[0])};
        },
    .complex = complex_rules::on_pairs,
    .reference = [](double a, double b) { return a * b; },
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor mul(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor mul(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor operator*(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator*(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator*(Scalar a, Arg b) { return call(op_scalar, b, a); }
Tensor& operator*=(Arg a, const Tensor& b) {
  return call_inplace(op, writable(*a.tensor), {b}, a.site);
}
Tensor& operator*=(Arg a, Scalar b) {
  return call_inplace(op_scalar, writable(*a.tensor), {}, a.site, {}, b);
}

Tensor MathMethods::mul(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::mul(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& MathMethods::mul_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& MathMethods::mul_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
