// Elementwise functions. Operands broadcast against each other; dtypes promote as in LibTorch (a
// number changes the dtype only when its category is higher). Operands whose shapes do not
// broadcast throw groove::Error.
#pragma once

#include <optional>

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
/// self ^ exponent. Exponents 2, 3, 0.5, -1 and -0.5 have exact forms of their own; for integer
/// tensors only exponents 2 and 3.
Tensor pow(Arg self, Scalar exponent);
Tensor pow(Arg self, const Tensor& exponent);  // floating results only
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
Tensor square(Arg self);  // self * self
/// self where positive or NaN, else 0.
Tensor relu(Arg self);
/// min(max(self, min), max); NaN stays. At least one bound must be given.
Tensor clamp(Arg self, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
Tensor clamp_min(Arg self, Scalar min);
Tensor clamp_max(Arg self, Scalar max);

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

/// A contiguous copy.
Tensor clone(Arg self);

/// 0 with probability p, otherwise self / (1 - p); self itself when `train` is false or p is 0.
/// Throws unless 0 <= p <= 1.
Tensor dropout(Arg self, double p, bool train);

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
Tensor operator-(Arg a);

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

}  // namespace groove
