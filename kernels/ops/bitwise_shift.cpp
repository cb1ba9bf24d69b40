// bitwise_left_shift and bitwise_right_shift: integers times and divided by powers of 2, by their
// bits. A shift by a negative number is one by more bits than there are.
#include <cmath>

#include "kernels/ops/bitwise.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

using kernels::Expr;

int width_of(Expr x) { return 8 * static_cast<int>(element_size(x.dtype())); }
Expr is_inside(Expr amount, int width) {
  return kernels::ge(amount, 0.0) & kernels::lt(amount, static_cast<double>(width));
}

Expr left(Expr x, Expr amount) {
  return select(is_inside(amount, width_of(x)), shift_left(x, amount),
                x.builder().constant_int(x.dtype(), 0));
}
Expr right(Expr x, Expr amount) {
  const Expr is_short = is_inside(amount, width_of(x));
  const auto number = [&](std::int64_t value) {
    return x.builder().constant_int(x.dtype(), value);
  };
  if (x.dtype() == kByte) return select(is_short, shift_right_logical(x, amount), number(0));
  return shift_right_arithmetic(x, select(is_short, amount, number(width_of(x) - 1)));
}

TypeResult type(const Signature& s) {
  const TypeResult result = bitwise_result(s);
  GROOVE_CHECK(result.outputs[0].dtype != kBool, "{}: not defined for Bool tensors; use to(kInt)",
               s.op.name);
  return result;
}

std::vector<ScalarType> dtypes() { return {kByte, kInt, kLong}; }

double left_reference(double a, double b) { return std::ldexp(a, static_cast<int>(b)); }
double right_reference(double a, double b) {
  return std::floor(std::ldexp(a, -static_cast<int>(b)));
}

// Both operands and results fit into every dtype.
BinarySpec binary(const char* name, Expr (*body)(Expr, Expr), ScalarFunction2 reference) {
  return {.name = name,
          .body = body,
          .reference = reference,
          .domain = {0, 4},
          .type = type,
          .dtypes = dtypes(),
          .tolerance_ulp = 0};
}
ScalarSpec scalar(const char* name, Expr (*body)(Expr, Expr), ScalarFunction2 reference) {
  return {.name = name,
          .body = body,
          .reference = reference,
          .domain = {0, 4},
          .type = type,
          .numbers = {1, 3},
          .dtypes = dtypes(),
          .tolerance_ulp = 0};
}

const Op& op_left = define(binary("bitwise_left_shift", left, left_reference));
const Op& op_right = define(binary("bitwise_right_shift", right, right_reference));
const Op& op_left_scalar = define(scalar("bitwise_left_shift_scalar", left, left_reference));
const Op& op_right_scalar = define(scalar("bitwise_right_shift_scalar", right, right_reference));

}  // namespace

Tensor bitwise_left_shift(Arg self, const Tensor& other) { return call(op_left, self, other); }
Tensor bitwise_left_shift(Arg self, Scalar other) { return call(op_left_scalar, self, other); }
Tensor bitwise_left_shift(Scalar self, Arg other) {
  const SiteScope scope(other.site);
  return call(op_left, {number_beside(*other.tensor, self, other.site), *other.tensor}, other.site);
}
Tensor bitwise_right_shift(Arg self, const Tensor& other) { return call(op_right, self, other); }
Tensor bitwise_right_shift(Arg self, Scalar other) { return call(op_right_scalar, self, other); }
Tensor bitwise_right_shift(Scalar self, Arg other) {
  const SiteScope scope(other.site);
  return call(op_right, {number_beside(*other.tensor, self, other.site), *other.tensor},
              other.site);
}

Tensor ElementwiseMethods::bitwise_left_shift(const Tensor& other, Site site) const {
  return call(op_left, {self(), site}, other);
}
Tensor ElementwiseMethods::bitwise_left_shift(Scalar other, Site site) const {
  return call(op_left_scalar, {self(), site}, other);
}
Tensor& ElementwiseMethods::bitwise_left_shift_(const Tensor& other, Site site) const {
  return call_inplace(op_left, writable(self()), {other}, site);
}
Tensor& ElementwiseMethods::bitwise_left_shift_(Scalar other, Site site) const {
  return call_inplace(op_left_scalar, writable(self()), {}, site, {}, other);
}
Tensor InPlaceMethods::__lshift__(const Tensor& other, Site site) const {
  return call(op_left, {self(), site}, other);
}
Tensor InPlaceMethods::__lshift__(Scalar other, Site site) const {
  return call(op_left_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::__ilshift__(const Tensor& other, Site site) const {
  return call_inplace(op_left, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::__ilshift__(Scalar other, Site site) const {
  return call_inplace(op_left_scalar, writable(self()), {}, site, {}, other);
}
Tensor ElementwiseMethods::bitwise_right_shift(const Tensor& other, Site site) const {
  return call(op_right, {self(), site}, other);
}
Tensor ElementwiseMethods::bitwise_right_shift(Scalar other, Site site) const {
  return call(op_right_scalar, {self(), site}, other);
}
Tensor& ElementwiseMethods::bitwise_right_shift_(const Tensor& other, Site site) const {
  return call_inplace(op_right, writable(self()), {other}, site);
}
Tensor& ElementwiseMethods::bitwise_right_shift_(Scalar other, Site site) const {
  return call_inplace(op_right_scalar, writable(self()), {}, site, {}, other);
}
Tensor InPlaceMethods::__rshift__(const Tensor& other, Site site) const {
  return call(op_right, {self(), site}, other);
}
Tensor InPlaceMethods::__rshift__(Scalar other, Site site) const {
  return call(op_right_scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::__irshift__(const Tensor& other, Site site) const {
  return call_inplace(op_right, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::__irshift__(Scalar other, Site site) const {
  return call_inplace(op_right_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
