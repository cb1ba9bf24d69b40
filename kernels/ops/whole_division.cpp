// The rest of a division without rounding: multiples are taken off in steps that lose no bit.
#include "kernels/ops/whole_division.h"

#include <algorithm>
#include <cmath>

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

bool is_zero(const Tensor& tensor, std::int64_t offset) {
  const auto size = static_cast<std::int64_t>(element_size(tensor.impl()->dtype));
  const char* bytes = static_cast<const char*>(tensor.impl()->data()) + offset * size;
  return std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; });
}

// Integers have no rest of a division by 0.
void check_divisors(const Signature& s, ArrayRef<Tensor> inputs) {
  const TypeResult types = s.op.type(s);
  const Tensor& divisor = inputs[1];
  if (is_floating(types.compute) || is_floating(divisor.impl()->dtype)) return;
  const Geometry& geometry = divisor.impl()->geometry;
  for_each_index(geometry.sizes, [&](const Shape& index) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * geometry.strides[axis];
    GROOVE_CHECK(!is_zero(divisor, offset), "{}: division by zero at position {}", s.op.name,
                 to_string(index));
  });
}

// Integers that are not 0; what a floating value divides by is not looked at.
ValueRange allowed_divisors(const Signature& s) {
  const bool is_whole = !is_floating(s.inputs[0].dtype) && !is_floating(s.inputs[1].dtype);
  return is_whole ? ValueRange{1, ValueRange().high} : ValueRange();
}

}  // namespace

Expr rest_of_division(Expr a, Expr b) {
  if (!is_floating(a.dtype())) return a - a / b * b;
  const double reach = a.dtype() == kFloat ? 0x1p23 : 0x1p52;
  const Expr is_far = ge(kernels::abs(a / b), reach);
  const Expr near = reduced(a, b);
  kernels::Builder& builder = a.builder();
  builder.emit(kernels::Prim::kIfAnyBegin, kBool, is_far);
  const Expr slow = reduced_from_afar(a, b);
  return builder.emit(kernels::Prim::kIfAnyEnd, a.dtype(), is_far, near, slow);
}

TypeResult whole_division_type(const Signature& s) {
  TypeResult result = promoted(s);
  GROOVE_CHECK(result.compute != kBool, "{}: not defined for Bool tensors", s.op.name);
  return result;
}

const Op& define_whole_division(BinarySpec spec) {
  const ScalarFunction2 reference = spec.reference;
  return define({
      .name = spec.name,
      .inputs = 2,
      .type = whole_division_type,
      .lowering = kernels::binary(spec.body),
      .gradient = spec.gradient,
      .saves_inputs = spec.saves_inputs,
      .check = check_divisors,
      .check_reads = 1,
      .allowed = allowed_divisors,
      .has_inplace = false,
      .reference =
          elementwise_reference([reference](const std::vector<double>& x, const Signature&) {
            return reference(x[0], x[1]);
          }),
      .domain = spec.domain,
      .dtypes = spec.dtypes,
      .samples = binary_samples,
      .tolerance_ulp = spec.tolerance_ulp,
  });
}

void check_divisor(const char* op, const Tensor& self, const Scalar& divisor) {
  GROOVE_CHECK(
      is_floating(checked(op, self).dtype) || divisor.isFloatingPoint() || divisor.to_int() != 0,
      "{}: division by zero", op);
}

}  // namespace groove
