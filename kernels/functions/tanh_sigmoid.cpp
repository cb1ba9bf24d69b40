// tanh, sigmoid and silu: quotients of 1 + exp, with the divisor carried as an unevaluated sum and
// the quotient corrected by its remainder.
#include "kernels/functions/parts.h"

namespace groove::kernels {

using functions::Pair;

// |x| < 0.6: x + x³ p(x²). Otherwise 1 - 2 / (exp(2|x|) + 1), which is 1 beyond the clamp.
Expr tanh(Expr x) {
  const bool single = functions::is_single(x);
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Expr a = abs(x);
  const Expr z = a * a;
  const Expr p =
      single ? functions::polynomial(z, {-0x1.555556p-2, 0x1.1110f6p-3, -0x1.ba0d94p-5,
                                         0x1.64fad8p-6, -0x1.1394cap-7, 0x1.36bdb2p-9})
             : functions::polynomial(
                   z, {-0x1.5555555555555p-2, 0x1.11111111110e3p-3, -0x1.ba1ba1ba15b29p-5,
                       0x1.664f488056b96p-6, -0x1.226e34dc136f6p-7, 0x1.d6d3b05a99f57p-9,
                       -0x1.7da0cedf6d09bp-10, 0x1.3535559875683p-11, -0x1.f30583c23502ap-13,
                       0x1.876e3a6430a18p-14, -0x1.0d297a9d86a2cp-15, 0x1.d15602ab6f13ap-18});
  const Expr small = fma(a * z, p, a);

  const Expr clamped = min(literal(single ? 10.0 : 22.0), a);
  const functions::Exponential e = functions::exponential(clamped + clamped);
  const Expr power = functions::power_of_two(e.exponent);
  const Pair divisor = functions::quick_sum(e.high * power, literal(1.0));
  const Expr divisor_low = fma(e.low, power, divisor.low);
  const Expr q = literal(2.0) / divisor.high;
  const Expr remainder = fma(-q, divisor_low, fma(-q, divisor.high, literal(2.0)));
  const Pair difference = functions::quick_sum(literal(1.0), -q);
  const Expr large = difference.high + (difference.low - remainder * q * 0.5);
  return functions::with_sign_of(select(lt(a, 0.6), small, large), x);
}

// With t = exp(-|x|): 1 / (1 + t), or t / (1 + t) for negative x. The numerator stays unscaled
// until the end, so that denormal results are rounded once.
functions::Logistic functions::logistic(Expr x, Expr x_low) {
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Expr is_negative = lt(x, 0.0);
  if (x_low.defined()) x_low = select(is_negative, x_low, -x_low);
  const Exponential t = exponential(-abs(x), x_low);
  const Pair divisor = quick_sum(literal(1.0), scale(t.high, t.exponent));
  const Expr divisor_low = divisor.low + scale(t.low, t.exponent);
  const Expr numerator = select(is_negative, t.high, literal(1.0));
  const Expr numerator_low = select(is_negative, t.low, literal(0.0));
  const Expr inverse = literal(1.0) / divisor.high;
  const Expr q = numerator * inverse;
  const Expr remainder = fma(-q, divisor_low, fma(-q, divisor.high, numerator)) + numerator_low;
  return {q, remainder * inverse, select(is_negative, t.exponent, literal(0.0))};
}

Expr sigmoid(Expr x) {
  const functions::Logistic s = functions::logistic(x);
  return functions::scale(s.high + s.low, s.exponent);
}

// The factor x joins before the scaling, so that denormal results are rounded once. Beyond `reach`
// the result is 0 or x itself, which the product would miss at infinity.
Expr silu(Expr x) {
  const functions::Logistic s = functions::logistic(x);
  const Expr reach = x.builder().constant(x.dtype(), functions::is_single(x) ? 200.0 : 1000.0);
  const Expr factor = max(-reach, x);
  const Expr product = functions::scale(fma(factor, s.high, factor * s.low), s.exponent);
  return select(gt(x, reach), x, product);
}

}  // namespace groove::kernels
