// sub: self - other, and a number minus a tensor. A scaled subtraction is add with -alpha: the
// product's sign commutes with its rounding.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// As LibTorch: no operand is a truth, whatever the other one is.
void check_no_truth(const char* op, bool is_bool) {
  GROOVE_CHECK(!is_bool,
               "{}: not defined with a Bool operand; use ne() or convert it with to(kInt)", op);
}
void check_no_truth(const char* op, const Tensor& x) {
  check_no_truth(op, checked(op, x).dtype == kBool);
}
void check_operands(const char* op, const Tensor& x, const Tensor& y, const Scalar& alpha) {
  check_no_truth(op, x);
  check_no_truth(op, y);
  check_no_truth(op, alpha.isBoolean());
}
void check_operands(const char* op, const Tensor& x, const Scalar& y, const Scalar& alpha) {
  check_no_truth(op, x);
  check_no_truth(op, y.isBoolean() || alpha.isBoolean());
}

TypeResult not_bool(const Signature& s) {
  TypeResult result = promoted(s);
  check_no_truth(s.op.name.c_str(), result.compute == kBool);
  return result;
}

const Op& op = define(BinarySpec{
    .name = "sub",
    .body = [](kernels::Expr a, kernels::Expr b) { return a - b; },
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(neg(g.cotangent()), g.input_types[1]);
          return result;
        },
    .complex = complex_rules::on_all_pairs,
    .reference = [](double a, double b) { return a - b; },
    .type = not_bool,
});

const Op& op_scalar = define(ScalarSpec{
    .name = "sub_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return x - number; },
    .gradient = [](const Grad& g) { return Tensors{reduced_to(g.cotangent(), g.input_types[0])}; },
    .complex = complex_rules::on_real_part,
    .reference = [](double a, double b) { return a - b; },
    .type = not_bool,
});

const Op& op_reversed = define(ScalarSpec{
    .name = "rsub_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return number - x; },
    .gradient =
        [](const Grad& g) { return Tensors{reduced_to(neg(g.cotangent()), g.input_types[0])}; },
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[0]);
          return complex_rules::joined(c.numbers[0] - z.re, neg(z.im));
        },
    .reference = [](double a, double b) { return b - a; },
    .type = not_bool,
});

bool is_one(Scalar alpha) { return alpha.to_double() == 1.0 && alpha.origin() < 0; }

Scalar negated(Scalar alpha) {
  if (alpha.isFloatingPoint()) return -alpha.to_double();
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(alpha.to_int()));
}

}  // namespace

Tensor sub(Arg self, const Tensor& other, Scalar alpha) {
  const CallFrame frame(self.site);
  check_operands("sub", *self.tensor, other, alpha);
  return is_one(alpha) ? call(op, self, other) : add(self, other, negated(alpha));
}
Tensor sub(Arg self, Scalar other, Scalar alpha) {
  const CallFrame frame(self.site);
  check_operands("sub", *self.tensor, other, alpha);
  return is_one(alpha) ? call(op_scalar, self, other) : add(self, other, negated(alpha));
}
Tensor operator-(Arg a, const Tensor& b) {
  const CallFrame frame(a.site);
  check_operands("-", *a.tensor, b, 1);
  return call(op, a, b);
}
Tensor operator-(Arg a, Scalar b) {
  const CallFrame frame(a.site);
  check_operands("-", *a.tensor, b, 1);
  return call(op_scalar, a, b);
}
Tensor operator-(Scalar a, Arg b) {
  const CallFrame frame(b.site);
  check_no_truth("-", *b.tensor);
  return call(op_reversed, b, a);
}
Tensor& operator-=(Arg a, const Tensor& b) {
  const CallFrame frame(a.site);
  check_operands("-=", *a.tensor, b, 1);
  return call_inplace(op, writable(*a.tensor), {b}, a.site);
}
Tensor& operator-=(Arg a, Scalar b) {
  const CallFrame frame(a.site);
  check_operands("-=", *a.tensor, b, 1);
  return call_inplace(op_scalar, writable(*a.tensor), {}, a.site, {}, b);
}

Tensor MathMethods::sub(const Tensor& other, Scalar alpha, Site site) const {
  return groove::sub({self(), site}, other, alpha);
}
Tensor MathMethods::sub(Scalar other, Scalar alpha, Site site) const {
  return groove::sub({self(), site}, other, alpha);
}
Tensor& MathMethods::sub_(const Tensor& other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  check_operands("sub_", self(), other, alpha);
  if (!is_one(alpha)) return add_(other, negated(alpha), site);
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& MathMethods::sub_(Scalar other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  check_operands("sub_", self(), other, alpha);
  if (!is_one(alpha)) return add_(other, negated(alpha), site);
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
