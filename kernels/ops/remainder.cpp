// remainder: what is left of self after whole multiples of other, with the sign of other.
#include <cmath>

#include "kernels/ops/spelled.h"
#include "kernels/ops/whole_division.h"

namespace groove {
namespace {

using kernels::Expr;

Expr remainder_of(Expr a, Expr b) {
  const Expr rest = rest_of_division(a, b);
  const Expr is_other_sign = lt(rest, 0.0) ^ lt(b, 0.0);
  return select(ne(rest, 0.0) & is_other_sign, rest + b, rest);
}

double reference(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

const Op& op = define_whole_division({
    .name = "remainder",
    .body = remainder_of,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (g.needs[1]) {
            const Tensor multiples = floor(div(g.input(0), g.input(1)));
            result[1] = reduced_to(neg(mul(g.cotangent(), multiples)), g.input_types[1]);
          }
          return result;
        },
    .saves_inputs = 3,
    .reference = reference,
    .domain = {1, 7},
    .tolerance_ulp = 0,
});

const Op& op_scalar = define(ScalarSpec{
    .name = "remainder_scalar",
    .body = remainder_of,
    .gradient = [](const Grad& g) { return Tensors{reduced_to(g.cotangent(), g.input_types[0])}; },
    .reference = reference,
    .domain = {-7, 7},
    .type = whole_division_type,
    .numbers = {3, -2},
    .tolerance_ulp = 0,
});

}  // namespace

Tensor remainder(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor remainder(Arg self, Scalar other) {
  const CallFrame frame(self.site);
  check_divisor("remainder", *self.tensor, other);
  return call(op_scalar, self, other);
}
Tensor operator%(Arg a, const Tensor& b) {
  const CallFrame frame(a.site);
  return remainder(a, b);
}
Tensor operator%(Arg a, Scalar b) {
  const CallFrame frame(a.site);
  return remainder(a, b);
}
Tensor operator%(Scalar a, Arg b) {
  const SiteScope scope(b.site);
  const ScalarType dtype = checked("remainder", *b.tensor).dtype;  // of the number, too
  return remainder(full({}, a, dtype, b.site), *b.tensor);
}
Tensor MathMethods::remainder(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::remainder(Scalar other, Site site) const {
  return groove::remainder({self(), site}, other);
}
Tensor& InPlaceMethods::remainder_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::remainder_(Scalar other, Site site) const {
  const CallFrame frame(site);
  check_divisor("remainder_", self(), other);
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

Tensor remainder(Scalar self, Arg other) {
  const CallFrame frame(other.site);
  checked("remainder", *other.tensor);
  return remainder(Arg(number_beside(*other.tensor, self, other.site), other.site), *other.tensor);
}

}  // namespace groove
