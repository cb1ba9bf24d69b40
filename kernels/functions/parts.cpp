// The shared pieces. Coefficients: interpolation at Chebyshev nodes in 60 digits, rounded.
#include "kernels/functions/parts.h"

#include <limits>

#include "kernels/scalings.h"

namespace groove::kernels::functions {
namespace {

Expr integer(Expr like, std::int64_t value) {
  return like.builder().constant_int(like.dtype(), value);
}

Expr exact_multiple(Expr value, Expr power) {
  return value.builder().emit(Prim::kMul, value.dtype(), value, power, {}, kExactProduct);
}

}  // namespace

ScalarType bits_dtype(Expr x) { return is_single(x) ? kInt : kLong; }

Expr polynomial(Expr x, std::initializer_list<double> coefficients) {
  const double* c = coefficients.end() - 1;
  Expr sum = x.builder().constant(x.dtype(), *c);
  while (c != coefficients.begin()) sum = fma(sum, x, x.builder().constant(x.dtype(), *--c));
  return sum;
}

// Adding 1.5 * 2^p (p the mantissa's bits) leaves the integer n + bias in the low bits, which are
// then moved to the exponent field: no conversion, which AVX2 lacks for i64.
Expr power_of_two(Expr n, double offset) {
  const bool single = is_single(n);
  const Expr biased = n + ((single ? 0x1.8p23 + 127 : 0x1.8p52 + 1023) + offset);
  const Expr bits = bitcast(biased, bits_dtype(n));
  return bitcast(shift_left(bits, integer(bits, single ? 23 : 52)), n.dtype());
}

// n + 2 bias takes one bit more than an exponent: half of it, rounded down, is the exponent of the
// first factor, what is left that of the second. Only the second product rounds.
Expr scale(Expr value, Expr n) {
  const bool single = is_single(n);
  const int width = single ? 23 : 52;
  const Expr bits =
      bitcast(n + (single ? 0x1.8p23 + 2 * 127 : 0x1.8p52 + 2 * 1023), bits_dtype(n));
  const Expr half =
      shift_left(bits, integer(bits, width - 1)) & integer(bits, -(std::int64_t{1} << width));
  const Expr rest = shift_left(bits, integer(bits, width)) - half;
  return exact_multiple(value, bitcast(half, n.dtype())) * bitcast(rest, n.dtype());
}

Expr scale_down(Expr value, Expr n) {
  return exact_multiple(value, power_of_two(n, 100)) * 0x1p-100;
}

Pair exact_sum(Expr a, Expr b) {
  const Expr sum = a + b;
  const Expr b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
Pair quick_sum(Expr a, Expr b) {
  const Expr sum = a + b;
  return {sum, (a - sum) + b};
}
Pair exact_product(Expr a, Expr b) {
  const Expr product = a * b;
  return {product, fma(a, b, -product)};
}

Pair quotient(const Pair& numerator, const Pair& denominator) {
  const Expr q = numerator.high / denominator.high;
  const Expr remainder =
      fma(-q, denominator.high, numerator.high) + fma(-q, denominator.low, numerator.low);
  return {q, remainder / denominator.high};
}

Expr with_sign_of(Expr value, Expr sign) {
  const ScalarType bits = bits_dtype(value);
  const Expr sign_bit = value.builder().constant_int(
      bits, is_single(value) ? std::numeric_limits<std::int32_t>::min()
                             : std::numeric_limits<std::int64_t>::min());
  return bitcast(bitcast(value, bits) | (bitcast(sign, bits) & sign_bit), value.dtype());
}

// x = n ln 2 + r with |r| <= ln 2 / 2. The high part of ln 2 has all bits of the dtype: r is a
// multiple of its last place and less than one, so the first fma is exact. Then
// exp(r) = (1 + r) + (rounding of that sum + r² q(r) + low part of r).
Exponential exponential(Expr x, Expr x_low) {
  const bool single = is_single(x);
  Builder& b = x.builder();
  const auto literal = [&](double value) { return b.constant(x.dtype(), value); };
  // Written so that NaN, always the second operand, passes.
  x = min(literal(single ? 89.0 : 710.0), max(literal(single ? -130.0 : -800.0), x));
  const Expr n = round_even(x * (single ? 0x1.715476p+0 : 0x1.71547652b82fep+0));
  const Expr ln2_low = literal(single ? -0x1.05c610p-29 : 0x1.abc9e3b39803fp-56);
  const Expr r_exact = fma(-n, literal(single ? 0x1.62e430p-1 : 0x1.62e42fefa39efp-1), x);
  // x_low may reach 2^-44, too much for a first-order correction of the result.
  const Pair start = x_low.defined() ? exact_sum(r_exact, x_low) : Pair{r_exact, {}};
  const Expr r = fma(-n, ln2_low, start.high);
  const Expr r_rounding = fma(-n, ln2_low, start.high - r);
  const Expr r_low = x_low.defined() ? r_rounding + start.low : r_rounding;
  const Expr q =
      single ? polynomial(r, {0x1.000000p-1, 0x1.555556p-3, 0x1.5554e8p-5, 0x1.1110e0p-7,
                              0x1.6d43b0p-10, 0x1.a1256cp-13})
             : polynomial(r, {0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
                              0x1.11111111100bep-7, 0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13,
                              0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19, 0x1.27e4db46cddd1p-22,
                              0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29});
  const Pair one_plus_r = quick_sum(literal(1.0), r);
  const Expr tail = one_plus_r.low + fma(r * r, q, r_low);
  const Pair sum = quick_sum(one_plus_r.high, tail);
  return {sum.high, sum.low, n};
}

// Subtracting the bits of sqrt(1/2) makes the exponent field change at powers of two times it.
Mantissa mantissa(Expr x) {
  const bool single = is_single(x);
  const double bias = single ? 127 : 1023, denormal_shift = single ? 23 : 54;
  const std::int64_t sqrt_half = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const int width = single ? 23 : 52;
  const double magic = single ? 0x1p23 : 0x1p52;
  const Expr is_denormal = lt(x, single ? 0x1p-126 : 0x1p-1022);
  const Expr normal = select(is_denormal, x * (single ? 0x1p23 : 0x1p54), x);
  const Expr bits = bitcast(normal, bits_dtype(x));
  const std::int64_t bias_bits = static_cast<std::int64_t>(bias) << width;
  const Expr shifted = bits + integer(bits, bias_bits - sqrt_half);
  // A positive integer below 2^width, made a float by placing it below the leading bit of magic.
  const Expr biased = shift_right_logical(shifted, integer(bits, width)) |
                      bitcast(x.builder().constant(x.dtype(), magic), bits.dtype());
  const Expr offset =
      select(is_denormal, x.builder().constant(x.dtype(), magic + bias + denormal_shift),
             x.builder().constant(x.dtype(), magic + bias));
  const Expr fraction = shifted & integer(bits, (std::int64_t{1} << width) - 1);
  const Expr m = bitcast(fraction + integer(bits, sqrt_half), x.dtype());
  return {m - 1.0, bitcast(biased, x.dtype()) - offset};
}

// log(1 + f) = (f - f²/2) + rest, where the bracket is kept with its rounding error and added to
// e ln 2, whose high part has so few bits that e times it is exact.
Expr log_of_positive(Expr x, Expr low) {
  const bool single = is_single(x);
  const auto [f, e] = mantissa(x);
  const Expr half = f * 0.5;
  const Expr bracket = fma(-half, f, f);
  const Expr bracket_low = fma(-half, f, f - bracket);
  Expr rest;
  if (single) {
    const Expr p =
        polynomial(f, {0x1.555554p-2, -0x1.fffffcp-3, 0x1.999d5ap-3, -0x1.555b4ap-3, 0x1.23d21ap-3,
                       -0x1.fcf4c6p-4, 0x1.dea282p-4, -0x1.d635bcp-4, 0x1.1d8ea6p-4});
    rest = fma(f * f * f, p, bracket_low);
  } else {
    // With s = f / (2 + f): log(1 + f) = f - f²/2 + s (f²/2 + s² p(s²)).
    const Expr s = f / (f + 2.0);
    const Expr z = s * s;
    const Expr p = polynomial(z, {0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476cccp-2,
                                  0x1.c71c720159177p-3, 0x1.745cf9048dd95p-3, 0x1.3b1c355a8f7a2p-3,
                                  0x1.0fbe95d716020p-3, 0x1.0c039c49989c6p-3});
    rest = fma(s, fma(half, f, z * p), bracket_low);
  }
  if (low.defined()) rest = rest + low;
  const Expr ln2_high = x.builder().constant(x.dtype(), single ? 0x1.62e4p-1 : 0x1.62e42fefa38p-1);
  const Expr ln2_low =
      x.builder().constant(x.dtype(), single ? 0x1.7f7d1cp-20 : 0x1.ef35793c76730p-45);
  const Pair sum = quick_sum(e * ln2_high, bracket);
  return sum.high + (fma(e, ln2_low, rest) + sum.low);
}

// With s = f / (2 + f) as a pair,
// log(1 + f) = 2 s + (2/3) s³ + s^5 p(s²), the first two terms as pairs.
Pair log_as_pair(Expr x) {
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const auto [f, e] = mantissa(x);
  const Pair divisor = quick_sum(literal(2.0), f);
  const Expr s = f / divisor.high;
  const Expr s_low = fma(-s, divisor.low, fma(-s, divisor.high, f)) / divisor.high;
  const Pair z = exact_product(s, s);
  const Expr z_low = fma(s + s, s_low, z.low);
  const Pair cube = exact_product(z.high, s);
  const Expr cube_low = fma(z_low, s, fma(z.high, s_low, cube.low));
  const Pair third = exact_product(cube.high, literal(0x1.5555555555555p-1));
  const Expr third_low = fma(cube.high, literal(0x1.5555555555555p-55),
                             fma(cube_low, literal(0x1.5555555555555p-1), third.low));
  const Expr p = polynomial(
      z.high, {0x1.999999999999ap-2, 0x1.2492492492491p-2, 0x1.c71c71c71cfd7p-3,
               0x1.745d17451376fp-3, 0x1.3b13b1bc64d9dp-3, 0x1.1110dfb2433c1p-3,
               0x1.e1f7f8b33879dp-4, 0x1.ac4ab12e9f860p-4, 0x1.b8d2ce0baf5e8p-4});
  const Expr fifth = cube.high * z.high * p;
  const Pair head = quick_sum(s + s, third.high);
  const Expr head_low = head.low + (s_low + s_low + (third_low + fifth));

  const Pair scaled = exact_product(e, literal(0x1.62e42fefa39efp-1));
  const Expr scaled_low = fma(e, literal(0x1.abc9e3b39803fp-56), scaled.low);
  const Pair sum = exact_sum(scaled.high, head.high);
  return quick_sum(sum.high, sum.low + (head_low + scaled_low));
}

}  // namespace groove::kernels::functions
