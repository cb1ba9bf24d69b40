// remainder: what is left of self after whole multiples of other, with the sign of other. Exact
// until the sign is brought over: multiples are taken off in steps that lose no bit.
#include <algorithm>
#include <cmath>

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;

// a - q b with q = a / b towards 0. One fma is exact while q is; a quotient of n bits is taken off
// 52 bits a step.
Expr reduced(Expr a, Expr b, int steps = 1) {
  for (int i = 0; i < steps; ++i) {
    const Expr q = trunc(a / b);
    a = select(eq(q, 0.0), a, fma(-q, b, a));  // b may be infinite
  }
  return a;
}

// The quotient of two f32 is below 2^278, which is no trouble to f64. That of two f64 is below
// 2^2098: multiples of b 2^2000 and of b 2^1000 go first.
Expr reduced_from_afar(Expr a, Expr b) {
  if (a.dtype() == kFloat)
    return convert(reduced(convert(a, kDouble), convert(b, kDouble), 6), kFloat);
  const Expr far = b * 0x1p1000, farther = far * 0x1p1000;
  a = reduced(a, select(ge(kernels::abs(a), kernels::abs(farther)), farther, b * INFINITY), 3);
  a = reduced(a, select(ge(kernels::abs(a), kernels::abs(far)), far, b * INFINITY), 21);
  return reduced(a, b, 21);
}

Expr remainder_of(Expr a, Expr b) {
  kernels::Builder& builder = a.builder();
  Expr rest;
  if (is_floating(a.dtype())) {
    const double reach = a.dtype() == kFloat ? 0x1p23 : 0x1p52;
    const Expr is_far = ge(kernels::abs(a / b), reach);
    const Expr near = reduced(a, b);
    builder.emit(kernels::Prim::kIfAnyBegin, kBool, is_far);
    const Expr slow = reduced_from_afar(a, b);
    rest = builder.emit(kernels::Prim::kIfAnyEnd, a.dtype(), is_far, near, slow);
  } else {
    rest = a - a / b * b;
  }
  const Expr is_other_sign = lt(rest, 0.0) ^ lt(b, 0.0);
  return select(ne(rest, 0.0) & is_other_sign, rest + b, rest);
}

double reference(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TypeResult remainder_type(const Signature& s) {
  TypeResult result = promoted(s);
  GROOVE_CHECK(result.compute != kBool, "remainder: not defined for Bool tensors");
  return result;
}

bool is_zero(const Tensor& tensor, std::int64_t offset) {
  const auto size = static_cast<std::int64_t>(element_size(tensor.impl()->dtype));
  const char* bytes = static_cast<const char*>(tensor.impl()->data()) + offset * size;
  return std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; });
}

// Integers have no remainder of 0.
void check_divisors(const Signature& s, ArrayRef<Tensor> inputs) {
  const TypeResult types = s.op.type(s);
  const Tensor& divisor = inputs[1];
  if (is_floating(types.compute) || is_floating(divisor.impl()->dtype)) return;
  const Geometry& geometry = divisor.impl()->geometry;
  for_each_index(geometry.sizes, [&](const Shape& index) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * geometry.strides[axis];
    GROOVE_CHECK(!is_zero(divisor, offset), "remainder: division by zero at position {}",
                 to_string(index));
  });
}

// Integers that are not 0; what a floating remainder divides by is not looked at.
ValueRange allowed_divisors(const Signature& s) {
  const bool is_whole = !is_floating(s.inputs[0].dtype) && !is_floating(s.inputs[1].dtype);
  return is_whole ? ValueRange{1, ValueRange().high} : ValueRange();
}

Tensor floored_quotient(const Tensor& a, const Tensor& b) { return floor(div(a, b)); }

const Op& op = define({
    .name = "remainder",
    .inputs = 2,
    .type = remainder_type,
    .lowering = kernels::binary(remainder_of),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (g.needs[1]) {
            const Tensor multiples = floored_quotient(g.input(0), g.input(1));
            result[1] = reduced_to(neg(mul(g.cotangent(), multiples)), g.input_types[1]);
          }
          return result;
        },
    .saves_inputs = 3,
    .check = check_divisors,
    .check_reads = 1,
    .allowed = allowed_divisors,
    .has_inplace = false,
    .reference = elementwise_reference(
        [](const std::vector<double>& x, const Signature&) { return reference(x[0], x[1]); }),
    .domain = {1, 7},
    .dtypes = numeric_dtypes(),
    .samples = binary_samples,
    .tolerance_ulp = 0,
});

const Op& op_scalar = define(ScalarSpec{
    .name = "remainder_scalar",
    .body = remainder_of,
    .gradient = [](const Grad& g) { return Tensors{reduced_to(g.cotangent(), g.input_types[0])}; },
    .reference = reference,
    .domain = {-7, 7},
    .type = remainder_type,
    .numbers = {3, -2},
    .tolerance_ulp = 0,
});

}  // namespace

Tensor remainder(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor remainder(Arg self, Scalar other) {
  GROOVE_CHECK(is_floating(checked("remainder", *self.tensor).dtype) || other.isFloatingPoint() ||
                   other.to_int() != 0,
               "remainder: division by zero");
  return call(op_scalar, self, other);
}
Tensor MathMethods::remainder(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::remainder(Scalar other, Site site) const {
  return groove::remainder({self(), site}, other);
}

}  // namespace groove
