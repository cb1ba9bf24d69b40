// Elementwise functions. Operands broadcast against each other; dtypes promote as in LibTorch (a
// number changes the dtype only when its category is higher). Operands whose shapes do not
// broadcast throw groove::Error.
#pragma once

#include <optional>
#include <string_view>

#include "groove/tensor.h"

namespace groove {

/// self + alpha * other; alpha must be an integer when the result's dtype is.
Tensor add(Arg self, const Tensor& other, Scalar alpha = 1);
Tensor add(Arg self, Scalar other, Scalar alpha = 1);
/// self - alpha * other; throws for two bool tensors.
Tensor sub(Arg self, const Tensor& other, Scalar alpha = 1);
Tensor sub(Arg self, Scalar other, Scalar alpha = 1);
Tensor mul(Arg self, const Tensor& other);
Tensor mul(Arg self, Scalar other);
/// True division: integer operands give the default dtype.
Tensor div(Arg self, const Tensor& other);
Tensor div(Arg self, Scalar other);
/// The quotient rounded down ("floor") or towards 0 ("trunc"); integers stay integers, and one that
/// is divided by 0 throws. Without a mode the true division.
Tensor div(Arg self, const Tensor& other, std::optional<std::string_view> rounding_mode);
Tensor div(Arg self, Scalar other, std::optional<std::string_view> rounding_mode);
/// The quotient rounded down: `div` with mode "floor".
Tensor floor_divide(Arg self, const Tensor& other);
Tensor floor_divide(Arg self, Scalar other);
/// self ^ exponent. Exponents 2, 3, 0.5, -1 and -0.5 have exact forms of their own; for integer
/// tensors only exponents 2 and 3.
Tensor pow(Arg self, Scalar exponent);
Tensor pow(Arg self, const Tensor& exponent);
Tensor pow(Scalar self, Arg exponent);
/// The smaller (greater) operand; NaN if either is.
Tensor minimum(Arg self, const Tensor& other);
Tensor maximum(Arg self, const Tensor& other);

Tensor neg(Arg self);  // throws for bool
Tensor abs(Arg self);  // throws for bool
// The following compute in floating point: integer inputs give the default dtype.
Tensor exp(Arg self);
Tensor log(Arg self);  // natural; NaN below 0, -inf at 0
Tensor sqrt(Arg self);
Tensor rsqrt(Arg self);  // 1 / sqrt(self)
Tensor reciprocal(Arg self);
Tensor tanh(Arg self);
Tensor sigmoid(Arg self);  // 1 / (1 + exp(-self))
Tensor sin(Arg self);      // radians
Tensor cos(Arg self);
Tensor tan(Arg self);
Tensor asin(Arg self);  // in [-pi/2, pi/2]; NaN outside [-1, 1]
Tensor acos(Arg self);  // in [0, pi]; NaN outside [-1, 1]
Tensor atan(Arg self);  // in [-pi/2, pi/2]
/// The angle of the points (other, self) in [-pi, pi]; both broadcast.
Tensor atan2(Arg self, const Tensor& other);
Tensor sinh(Arg self);
Tensor cosh(Arg self);
Tensor exp2(Arg self);     // 2 to the power of self
Tensor log2(Arg self);     // NaN below 0, -inf at 0; powers of 2 come out exactly
Tensor log10(Arg self);    // likewise, to base 10
Tensor square(Arg self);   // self * self
Tensor log1p(Arg self);    // log(1 + self) without cancellation
Tensor expm1(Arg self);    // exp(self) - 1, likewise
Tensor erf(Arg self);      // 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self
Tensor erfc(Arg self);     // 1 - erf(self), without cancellation
Tensor erfinv(Arg self);   // the x whose erf is self; infinite at -1 and 1, NaN beyond
Tensor lgamma(Arg self);   // log |gamma(self)|; infinite at 0, -1, -2, ...
Tensor digamma(Arg self);  // the derivative of lgamma; NaN at -1, -2, ..., infinite at 0
/// The derivative of that order of digamma; 0 <= order <= 12.
Tensor polygamma(std::int64_t order, Arg self);
/// self * sigmoid(self)
Tensor silu(Arg self);
/// self * Phi(self), Phi the normal distribution; approximate is "none" or "tanh" (Hendrycks and
/// Gimpel 2016).
Tensor gelu(Arg self, std::string_view approximate = "none");
/// log(1 + exp(beta * self)) / beta; self itself where beta * self > threshold.
Tensor softplus(Arg self, Scalar beta = 1, Scalar threshold = 20);
/// self where positive, else negative_slope * self.
Tensor leaky_relu(Arg self, Scalar negative_slope = 0.01);
// Rounding keeps integer dtypes.
Tensor floor(Arg self);
Tensor ceil(Arg self);
Tensor round(Arg self);  // half to even
/// To so many digits behind the point, or in front of it where negative.
Tensor round(Arg self, std::int64_t decimals);
Tensor trunc(Arg self);  // towards 0
/// -1, 0 or 1; NaN gives 0, as in LibTorch.
Tensor sign(Arg self);
Tensor isnan(Arg self);  // bool
Tensor isinf(Arg self);
Tensor isfinite(Arg self);
/// self - floor(self / other) * other: the sign of `other`.
Tensor remainder(Arg self, const Tensor& other);
Tensor remainder(Arg self, Scalar other);
Tensor remainder(Scalar self, Arg other);
/// self - trunc(self / other) * other: the sign of `self`.
Tensor fmod(Arg self, const Tensor& other);
Tensor fmod(Arg self, Scalar other);
/// The part behind the point, with the sign of self.
Tensor frac(Arg self);
/// self + weight * (end - self), exact at both ends.
Tensor lerp(Arg self, const Tensor& end, Scalar weight);
Tensor lerp(Arg self, const Tensor& end, const Tensor& weight);
/// self + value * tensor1 * tensor2, and with / instead of the second *.
Tensor addcmul(Arg self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
Tensor addcdiv(Arg self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);

/// Of truth values (anything but 0 is true); the result is bool.
Tensor logical_not(Arg self);
Tensor logical_and(Arg self, const Tensor& other);
Tensor logical_or(Arg self, const Tensor& other);
Tensor logical_xor(Arg self, const Tensor& other);
/// Bit by bit; integers and bool, others throw.
Tensor bitwise_not(Arg self);
Tensor bitwise_and(Arg self, const Tensor& other);
Tensor bitwise_and(Arg self, Scalar other);
Tensor bitwise_and(Scalar self, Arg other);
Tensor bitwise_or(Arg self, const Tensor& other);
Tensor bitwise_or(Arg self, Scalar other);
Tensor bitwise_or(Scalar self, Arg other);
Tensor bitwise_xor(Arg self, const Tensor& other);
Tensor bitwise_xor(Arg self, Scalar other);
Tensor bitwise_xor(Scalar self, Arg other);
/// self where positive or NaN, else 0.
Tensor relu(Arg self);
/// min(max(self, min), max); NaN stays. At least one bound must be given.
Tensor clamp(Arg self, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
/// Between tensors that broadcast; an undefined one does not bound.
Tensor clamp(Arg self, const std::optional<Tensor>& min, const std::optional<Tensor>& max = {});
Tensor clamp_min(Arg self, Scalar min);
Tensor clamp_min(Arg self, const Tensor& min);
Tensor clamp_max(Arg self, Scalar max);
Tensor clamp_max(Arg self, const Tensor& max);
inline Tensor clip(Arg self, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) {
  return clamp(self, min, max);
}

/// Comparisons give bool tensors; any comparison with NaN is false, except ne.
Tensor eq(Arg self, const Tensor& other);
Tensor eq(Arg self, Scalar other);
Tensor ne(Arg self, const Tensor& other);
Tensor ne(Arg self, Scalar other);
Tensor lt(Arg self, const Tensor& other);
Tensor lt(Arg self, Scalar other);
Tensor le(Arg self, const Tensor& other);
Tensor le(Arg self, Scalar other);
Tensor gt(Arg self, const Tensor& other);
Tensor gt(Arg self, Scalar other);
Tensor ge(Arg self, const Tensor& other);
Tensor ge(Arg self, Scalar other);

/// condition ? self : other, element by element; `condition` must be bool.
Tensor where(Arg condition, const Tensor& self, const Tensor& other);
Tensor where(Arg condition, const Tensor& self, Scalar other);
Tensor where(Arg condition, Scalar self, const Tensor& other);
Tensor where(Arg condition, Scalar self, Scalar other);
/// self with `value` where `mask` (bool) is set; the dtype is that of self.
Tensor masked_fill(Arg self, const Tensor& mask, Scalar value);
/// The same with a 0-d tensor.
Tensor masked_fill(Arg self, const Tensor& mask, const Tensor& value);

/// A contiguous copy.
Tensor clone(Arg self);
/// True when shapes, dtypes and all elements agree (NaN with none).
bool equal(Arg self, const Tensor& other);
/// True when |self - other| <= atol + rtol * |other| everywhere; NaN counts as close only with
/// equal_nan.
bool allclose(Arg self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);

/// 0 with probability p, otherwise self / (1 - p); self itself when `train` is false or p is 0.
/// Throws unless 0 <= p <= 1.
Tensor dropout(Arg self, double p, bool train);

// Other names of the same.
inline Tensor subtract(Arg self, const Tensor& other, Scalar alpha = 1) {
  return sub(self, other, alpha);
}
inline Tensor subtract(Arg self, Scalar other, Scalar alpha = 1) { return sub(self, other, alpha); }
inline Tensor multiply(Arg self, const Tensor& other) { return mul(self, other); }
inline Tensor multiply(Arg self, Scalar other) { return mul(self, other); }
inline Tensor divide(Arg self, const Tensor& other) { return div(self, other); }
inline Tensor divide(Arg self, Scalar other) { return div(self, other); }
inline Tensor true_divide(Arg self, const Tensor& other) { return div(self, other); }
inline Tensor true_divide(Arg self, Scalar other) { return div(self, other); }
inline Tensor negative(Arg self) { return neg(self); }
inline Tensor absolute(Arg self) { return abs(self); }
inline Tensor greater(Arg self, const Tensor& other) { return gt(self, other); }
inline Tensor greater(Arg self, Scalar other) { return gt(self, other); }
inline Tensor greater_equal(Arg self, const Tensor& other) { return ge(self, other); }
inline Tensor greater_equal(Arg self, Scalar other) { return ge(self, other); }
inline Tensor less(Arg self, const Tensor& other) { return lt(self, other); }
inline Tensor less(Arg self, Scalar other) { return lt(self, other); }
inline Tensor less_equal(Arg self, const Tensor& other) { return le(self, other); }
inline Tensor less_equal(Arg self, Scalar other) { return le(self, other); }
inline Tensor not_equal(Arg self, const Tensor& other) { return ne(self, other); }
inline Tensor not_equal(Arg self, Scalar other) { return ne(self, other); }

Tensor operator+(Arg a, const Tensor& b);
Tensor operator+(Arg a, Scalar b);
Tensor operator+(Scalar a, Arg b);
Tensor operator-(Arg a, const Tensor& b);
Tensor operator-(Arg a, Scalar b);
Tensor operator-(Scalar a, Arg b);
Tensor operator*(Arg a, const Tensor& b);
Tensor operator*(Arg a, Scalar b);
Tensor operator*(Scalar a, Arg b);
Tensor operator/(Arg a, const Tensor& b);
Tensor operator/(Arg a, Scalar b);
Tensor operator/(Scalar a, Arg b);
Tensor operator%(Arg a, const Tensor& b);  // remainder
Tensor operator%(Arg a, Scalar b);
Tensor operator%(Scalar a, Arg b);
Tensor operator-(Arg a);
Tensor operator~(Arg a);
Tensor operator!(Arg a);
Tensor operator&(Arg a, const Tensor& b);
Tensor operator&(Arg a, Scalar b);
Tensor operator&(Scalar a, Arg b);
Tensor operator|(Arg a, const Tensor& b);
Tensor operator|(Arg a, Scalar b);
Tensor operator|(Scalar a, Arg b);
Tensor operator^(Arg a, const Tensor& b);
Tensor operator^(Arg a, Scalar b);
Tensor operator^(Scalar a, Arg b);
Tensor operator&&(Arg a, const Tensor& b);
Tensor operator||(Arg a, const Tensor& b);

Tensor operator==(Arg a, const Tensor& b);
Tensor operator==(Arg a, Scalar b);
Tensor operator==(Scalar a, Arg b);
Tensor operator!=(Arg a, const Tensor& b);
Tensor operator!=(Arg a, Scalar b);
Tensor operator!=(Scalar a, Arg b);
Tensor operator<(Arg a, const Tensor& b);
Tensor operator<(Arg a, Scalar b);
Tensor operator<(Scalar a, Arg b);
Tensor operator<=(Arg a, const Tensor& b);
Tensor operator<=(Arg a, Scalar b);
Tensor operator<=(Scalar a, Arg b);
Tensor operator>(Arg a, const Tensor& b);
Tensor operator>(Arg a, Scalar b);
Tensor operator>(Scalar a, Arg b);
Tensor operator>=(Arg a, const Tensor& b);
Tensor operator>=(Arg a, Scalar b);
Tensor operator>=(Scalar a, Arg b);

// In place, also on a view that is a temporary: x[0] += 1.
Tensor& operator+=(Arg a, const Tensor& b);
Tensor& operator+=(Arg a, Scalar b);
Tensor& operator-=(Arg a, const Tensor& b);
Tensor& operator-=(Arg a, Scalar b);
Tensor& operator*=(Arg a, const Tensor& b);
Tensor& operator*=(Arg a, Scalar b);
Tensor& operator/=(Arg a, const Tensor& b);
Tensor& operator/=(Arg a, Scalar b);
Tensor& operator&=(Arg a, const Tensor& b);
Tensor& operator|=(Arg a, const Tensor& b);
Tensor& operator^=(Arg a, const Tensor& b);

}  // namespace groove
