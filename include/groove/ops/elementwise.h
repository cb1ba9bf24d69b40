// More elementwise functions, and other names. Operands broadcast and promote as in
// groove/ops/math.h; unless a line says otherwise a function computes in floating point, so that
// integers give the default dtype.
#pragma once

#include "groove/ops/math.h"

namespace groove {

Tensor acosh(Arg self);  // at least 0; NaN below 1
Tensor asinh(Arg self);
Tensor atanh(Arg self);  // infinite at -1 and 1, NaN beyond
/// log(exp(self) + exp(other)) and log2(2^self + 2^other) without overflow.
Tensor logaddexp(Arg self, const Tensor& other);
Tensor logaddexp2(Arg self, const Tensor& other);
/// sqrt(self^2 + other^2) without overflow.
Tensor hypot(Arg self, const Tensor& other);
/// self * log(other), and self * log(1 + other); 0 where self is 0 and other is not NaN.
Tensor xlogy(Arg self, const Tensor& other);
Tensor xlogy(Arg self, Scalar other);
Tensor xlogy(Scalar self, Arg other);
/// sin(pi * self) / (pi * self); 1 at 0.
Tensor sinc(Arg self);
/// log(self / (1 - self)), of values kept within eps of 0 and 1 where eps is given.
Tensor logit(Arg self, std::optional<double> eps = std::nullopt);
Tensor deg2rad(Arg self);
Tensor rad2deg(Arg self);
/// self^exponent in double precision, whatever the dtypes.
Tensor float_power(Arg self, const Tensor& exponent);
Tensor float_power(Arg self, Scalar exponent);
Tensor float_power(Scalar self, Arg exponent);
/// self * 2^other
Tensor ldexp(Arg self, const Tensor& other);
/// |self| with the sign of other, also that of -0.0; a NaN counts as positive, whatever its bits.
Tensor copysign(Arg self, const Tensor& other);
Tensor copysign(Arg self, Scalar other);
/// The number next to self on the way to other.
Tensor nextafter(Arg self, const Tensor& other);

/// -1, 0 or 1; as sign, dtypes stay.
Tensor sgn(Arg self);
/// 0 below 0, 1 above, `values` at 0. One dtype.
Tensor heaviside(Arg self, const Tensor& values);
/// NaN becomes nan (default 0), infinities the given numbers (default the greatest finite ones).
Tensor nan_to_num(Arg self, std::optional<double> nan = std::nullopt,
                  std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);
/// The smaller (greater) operand; where one is NaN, the other.
Tensor fmin(Arg self, const Tensor& other);
Tensor fmax(Arg self, const Tensor& other);
/// The greatest common divisor and the least common multiple of integers.
Tensor gcd(Arg self, const Tensor& other);
Tensor lcm(Arg self, const Tensor& other);
/// Integers times (divided by) 2^other, as bits; a shift by more bits than there are leaves none
/// but the sign of a division.
Tensor bitwise_left_shift(Arg self, const Tensor& other);
Tensor bitwise_left_shift(Arg self, Scalar other);
Tensor bitwise_left_shift(Scalar self, Arg other);
Tensor bitwise_right_shift(Arg self, const Tensor& other);
Tensor bitwise_right_shift(Arg self, Scalar other);
Tensor bitwise_right_shift(Scalar self, Arg other);
/// other - alpha * self
Tensor rsub(Arg self, const Tensor& other, Scalar alpha = 1);
Tensor rsub(Arg self, Scalar other, Scalar alpha = 1);
/// self itself; throws for bool.
Tensor positive(Arg self);

// Questions, whose answers are bool.
/// |self - other| <= atol + rtol * |other|; NaN is close to NaN only with equal_nan.
Tensor isclose(Arg self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
Tensor isposinf(Arg self);
Tensor isneginf(Arg self);
Tensor isreal(Arg self);   // true everywhere
Tensor signbit(Arg self);  // also of -0.0, never of NaN
/// Which elements are among the others?
Tensor isin(Arg elements, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);
Tensor isin(Arg elements, Scalar test_element, bool assume_unique = false, bool invert = false);
Tensor isin(Scalar element, Arg test_elements, bool assume_unique = false, bool invert = false);

/// The dtype that an operation on both computes in.
ScalarType result_type(Arg tensor, const Tensor& other);
ScalarType result_type(Arg tensor, Scalar other);
ScalarType result_type(Scalar scalar, Arg tensor);
ScalarType result_type(Scalar scalar1, Scalar scalar2);
/// May a result of the one dtype be written to a tensor of the other?
bool can_cast(ScalarType from, ScalarType to);

// Other names of the same.
inline Tensor arccos(Arg self) { return acos(self); }
inline Tensor arcsin(Arg self) { return asin(self); }
inline Tensor arctan(Arg self) { return atan(self); }
inline Tensor arctan2(Arg self, const Tensor& other) { return atan2(self, other); }
inline Tensor arccosh(Arg self) { return acosh(self); }
inline Tensor arcsinh(Arg self) { return asinh(self); }
inline Tensor arctanh(Arg self) { return atanh(self); }
inline Tensor clip(Arg self, const std::optional<Tensor>& min,
                   const std::optional<Tensor>& max = {}) {
  return clamp(self, min, max);
}
inline Tensor fix(Arg self) { return trunc(self); }
inline Tensor divide(Arg self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return div(self, other, rounding_mode);
}
inline Tensor divide(Arg self, Scalar other, std::optional<std::string_view> rounding_mode) {
  return div(self, other, rounding_mode);
}

}  // namespace groove
