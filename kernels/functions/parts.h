// Pieces that the expansions share: polynomials, powers of two, exact sums and products, and the
// exponential as an unevaluated sum, for functions that divide by 1 + exp(x).
#pragma once

#include <initializer_list>

#include "kernels/expr.h"

namespace groove::kernels::functions {

inline constexpr double kPi[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};  // a sum of two

inline bool is_single(Expr x) { return x.dtype() == kFloat; }

/// c[0] + x (c[1] + x (c[2] + …)), one fma a step.
Expr polynomial(Expr x, std::initializer_list<double> coefficients);

/// 2^(n + offset) for integral n + offset in the range of normal exponents.
Expr power_of_two(Expr n, double offset = 0);
/// value * 2^n, rounded once even when the result is denormal; n within twice the exponent range.
Expr scale(Expr value, Expr n);
/// The same for -220 <= n <= 0 and a value whose product with 2^(n + 100) is exact.
Expr scale_down(Expr value, Expr n);

/// high + low is the exact sum; |a| >= |b| or a == 0 is needed for `quick_sum`.
struct Pair {
  Expr high, low;
};
Pair exact_sum(Expr a, Expr b);
Pair quick_sum(Expr a, Expr b);
Pair exact_product(Expr a, Expr b);

/// The magnitude of `value` with the sign bit of `sign`; `value` is not negative.
Expr with_sign_of(Expr value, Expr sign);
/// An integer of the width of x's dtype.
ScalarType bits_dtype(Expr x);

/// exp(x + x_low) = (high + low) * 2^exponent with |low| <= ulp(high) / 2. NaN in x gives NaN; x is
/// clamped to where the exponential overflows, and to where even x exp(x) underflows. `x_low` may be left out.
struct Exponential {
  Expr high, low, exponent;
};
Exponential exponential(Expr x, Expr x_low = {});

/// 1 / (1 + exp(-x - x_low)) = (high + low) * 2^exponent, low relative to high as above.
struct Logistic {
  Expr high, low, exponent;
};
Logistic logistic(Expr x, Expr x_low = {});

/// x = (1 + f) * 2^exponent, 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
struct Mantissa {
  Expr f, exponent;
};
Mantissa mantissa(Expr x);

/// log(x) + low for positive finite x only; a `low` below an ulp of x / x may be left out.
Expr log_of_positive(Expr x, Expr low = {});
/// The same in f64 with an error of about 2^-66 of it.
Pair log_as_pair(Expr x);
/// log(1 + exp(x)), with the exponential's low part: two roundings less than the two functions.
Expr softplus(Expr x);

/// The sine and cosine of pi r in f64 with errors of about 2^-56 of them, |r| <= 1/2.
struct HalfTurn {
  Pair sine, cosine;
};
HalfTurn half_turn(Expr r);
/// Both for 0 <= x < 2^20, with the bits of sin(x) and cos(x).
struct SineAndCosine {
  Expr sine, cosine;
};
SineAndCosine sine_and_cosine(Expr x);
/// numerator / denominator with the rounding error of the quotient as its low part.
Pair quotient(const Pair& numerator, const Pair& denominator);

}  // namespace groove::kernels::functions
