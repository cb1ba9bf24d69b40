// erf, erfc, gelu and its tanh form, with the slopes of both. The tails come from one product,
//
//     erfc(a) or the normal distribution's upper tail = exp(-a² or -a²/2) p(t) / (1 + s a), a >= 0
//
// with t = (a - k) / (a + k), where p varies little: it is the tail over the exponential (erfcx or
// the Mills ratio) times 1 + s a, flat at 0 by the choice of s. All factors are carried with their
// rounding errors, so that the result lacks little more than its own, down to denormal ones.
#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::exact_product;
using functions::Exponential;
using functions::is_single;
using functions::Logistic;
using functions::Pair;
using functions::polynomial;
using functions::scale;
using functions::scale_down;

// Coefficients: interpolation at Chebyshev nodes in 60 digits, rounded.
struct Fit {
  double k, s;
  double constant, constant_low;  // of p, as a pair
};

Fit fit_of_erfc(bool single) {
  if (single) return {3, 1.125, 0x1.90f66cp-1, -0x1.d221f6p-27};
  return {4, 1.125, 0x1.81ca5c6ac35d4p-1, -0x1.1be15f76bbeb5p-56};
}
Expr slope_of_erfc(Expr t) {
  if (is_single(t))
    return polynomial(t, {-0x1.c08a74p-3, 0x1.4a89dep-4, 0x1.db2c7ap-8, -0x1.24c242p-5,
                         0x1.c687b6p-6, -0x1.7949d2p-7, 0x1.cec3eep-10, 0x1.c3aa8cp-11,
                         -0x1.cb89c6p-12, -0x1.15c1f4p-13});
  return polynomial(t, {-0x1.88f7ef80ff627p-3, 0x1.ab6160c8dc473p-4, -0x1.12e8a665fb276p-5,
                       -0x1.2c418633621f8p-7, 0x1.9b7c27f766828p-6, -0x1.82f2f298366c1p-6,
                       0x1.f4f0daa240624p-7, -0x1.e0b288219c5c6p-8, 0x1.452c053328bbfp-9,
                       -0x1.c8efa45099764p-12, -0x1.452bb4859a366p-14, 0x1.39f8724706ee6p-14,
                       -0x1.e875aa4cbc632p-17, -0x1.512874dc7daa9p-18, 0x1.9712c9c16227fp-19,
                       0x1.5ded1cadf81a1p-25, -0x1.c562b73cf061ap-22, 0x1.caa979d1e26fbp-25,
                       0x1.dad0714876f59p-25, -0x1.85a423f0f193ep-27, -0x1.ec313e5be560dp-28,
                       0x1.49a71c4967ecdp-30, 0x1.7925454b8638fp-31});
}

Fit fit_of_normal(bool single) {
  if (single) return {4, 0.796875, 0x1.94d534p-2, 0x1.5adc10p-28};
  return {6, 0.796875, 0x1.7f7e58b09e5b6p-2, 0x1.6b891344fbcabp-56};
}
Expr slope_of_normal(Expr t) {
  if (is_single(t))
    return polynomial(t, {-0x1.c9693ap-4, 0x1.2a5b4ep-5, 0x1.0d857ap-7, -0x1.3da7a0p-6,
                         0x1.9be52ap-7, -0x1.fd1028p-9, -0x1.c37e5ep-14, 0x1.0e4410p-11,
                         -0x1.0ba07ep-14, -0x1.e21fb2p-15});
  return polynomial(t, {-0x1.7c05c040d7156p-4, 0x1.b3fe1a06fd53dp-5, -0x1.49aea72a6b55bp-6,
                       -0x1.5a2dde4a5449bp-10, 0x1.649c8a242c0dcp-7, -0x1.85c2a3f216e87p-7,
                       0x1.1f052e64d51a7p-7, -0x1.43314b13ee5d9p-8, 0x1.17a425a9ee4f7p-9,
                       -0x1.57d99aa015551p-11, 0x1.99eaa6a92f792p-14, 0x1.b365f8370be6cp-16,
                       -0x1.4da0c54524c7dp-16, 0x1.e4f7c556ea3a4p-19, 0x1.5657af3f6064bp-20,
                       -0x1.9f9bc9039201ap-21, 0x1.bd078499ec568p-27, 0x1.b3f7e47e3c38cp-24,
                       -0x1.281fd0daeabdbp-26, -0x1.b2e5ff1d3aa4fp-27, 0x1.43bfd16f245fbp-29,
                       0x1.9ef16ffb8a10dp-30, 0x1.cca1c3e177e6fp-34});
}

// (high + low) * 2^exponent, and the exponential in it.
struct Tail {
  Expr high, low, exponent;
  Exponential power;
};

// 0 <= a <= 40. (a - k) / (a + k) is corrected by its remainder, as is the quotient; both share one
// division.
Tail tail(Expr a, Exponential power, const Fit& fit, Expr (*slope)(Expr t)) {
  const auto literal = [&](double value) { return a.builder().constant(a.dtype(), value); };
  const Expr shifted = a + fit.k;
  const Expr divisor = fma(literal(fit.s), a, literal(1.0));
  const Expr divisor_low = fma(literal(fit.s), a, literal(1.0) - divisor);
  const Expr inverse = literal(1.0) / (shifted * divisor);
  const Expr shifted_inverse = inverse * divisor, divisor_inverse = inverse * shifted;

  const Expr guess = (a - fit.k) * shifted_inverse;
  const Expr t_remainder = fma(-guess, a, fma(guess + 1.0, literal(-fit.k), a));
  const Expr t = fma(t_remainder, shifted_inverse, guess);

  const Expr varying = slope(t);
  const Expr p = fma(t, varying, literal(fit.constant));
  const Expr p_low = fma(t, varying, literal(fit.constant) - p) + fit.constant_low;
  const Expr q = p * divisor_inverse;
  const Expr remainder = fma(-q, divisor, p) + fma(-q, divisor_low, p_low);
  const Expr q_low = remainder * divisor_inverse;

  const Pair product = exact_product(power.high, q);
  const Expr low = fma(power.high, q_low, fma(power.low, q, product.low));
  return {product.high, low, power.exponent, power};
}

// Written so that NaN, the second operand, passes.
Expr clamped_magnitude(Expr x, double single_reach, double double_reach) {
  const double reach = is_single(x) ? single_reach : double_reach;
  return min(x.builder().constant(x.dtype(), reach), abs(x));
}

// erfc of a magnitude.
Expr upper_tail(Expr magnitude) {
  const Expr a = clamped_magnitude(magnitude, 12.0, 30.0);
  const Pair square = exact_product(a, a);
  const Tail r = tail(a, functions::exponential(-square.high, -square.low),
                      fit_of_erfc(is_single(a)), slope_of_erfc);
  return scale(r.high + r.low, r.exponent);
}

// The upper tail of the normal distribution.
Tail normal_tail(Expr a) {
  const Pair square = exact_product(a, a);
  return tail(a, functions::exponential(square.high * -0.5, square.low * -0.5),
              fit_of_normal(is_single(a)), slope_of_normal);
}

// ---- f32: half the instructions, for 1.5 instead of 0.9 units in the last place ----

// exp(-a²/2) = (1 + rest) 2^exponent, and the tail over it as q + q_low. The two quotients need no
// correction of their own; what is carried is the rounding of the divisor, of p and of a².
struct ShortTail {
  Expr rest, exponent, q, q_low;
};

ShortTail short_normal_tail(Expr a) {
  const auto literal = [&](double value) { return a.builder().constant(a.dtype(), value); };
  const Pair square = exact_product(a, a);
  const Expr y = square.high * -0.5;
  const Expr n = round_even(y * 0x1.715476p+0);
  const Expr r_low = fma(n, literal(0x1.05c610p-29), square.low * -0.5);
  const Expr r = fma(n, literal(-0x1.62e430p-1), y) + r_low;
  const Expr shape = polynomial(r, {0x1.000000p-1, 0x1.555556p-3, 0x1.5554e8p-5, 0x1.1110e0p-7,
                                    0x1.6d43b0p-10, 0x1.a1256cp-13});
  const Expr rest = fma(r * r, shape, r);

  const Fit fit = fit_of_normal(true);
  const Expr t = (a - fit.k) / (a + fit.k);
  const Expr varying = slope_of_normal(t);
  const Expr p = fma(t, varying, literal(fit.constant));
  const Expr p_low = fma(t, varying, literal(fit.constant) - p) + fit.constant_low;
  const Expr divisor = fma(literal(fit.s), a, literal(1.0));
  const Expr divisor_low = fma(literal(fit.s), a, literal(1.0) - divisor);
  const Expr inverse = literal(1.0) / divisor;
  const Expr q = p * inverse;
  const Expr remainder = fma(-q, divisor_low, fma(-q, divisor, p)) + p_low;
  return {rest, n, q, remainder * inverse};
}

Expr short_gelu_share(Expr a) {
  const ShortTail tail = short_normal_tail(a);
  const Pair w = exact_product(a, tail.q);
  const Expr w_low = fma(a, tail.q_low, w.low);
  const Expr low = fma(tail.rest, w_low, w_low);
  return scale_down(w.high + fma(tail.rest, w.high, low), tail.exponent);
}

// ---- the tanh form ----

// x (c1 + c2 x²) = 2 sqrt(2/pi) (x + 0.044715 x³), the argument of the logistic function that the
// tanh form is, as a pair.
struct Cubic {
  double c1, c1_low, c2, c2_low;
};
Cubic cubic(bool single) {
  if (single) return {0x1.988454p+0, -0x1.857936p-25, 0x1.2444f2p-4, 0x1.49b16ap-29};
  return {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54, 0x1.2444f2a4d8b4bp-4,
          -0x1.6c843a29d1c70p-61};
}
Logistic tanh_form(Expr x) {
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Cubic c = cubic(is_single(x));
  const Pair square = exact_product(x, x);
  const Pair term = exact_product(square.high, literal(c.c2));
  const Expr term_low =
      fma(square.low, literal(c.c2), fma(square.high, literal(c.c2_low), term.low));
  const Pair factor = functions::exact_sum(literal(c.c1), term.high);
  const Expr factor_low = factor.low + (term_low + c.c1_low);
  const Pair w = exact_product(x, factor.high);
  return functions::logistic(w.high, fma(x, factor_low, w.low));
}
// Beyond, the tanh form is 0 or x itself.
Expr clamped(Expr x) { return functions::with_sign_of(clamped_magnitude(x, 20.0, 30.0), x); }

}  // namespace

Expr erfc(Expr x) {
  const Expr m = upper_tail(x);
  return select(lt(x, 0.0), 2.0 - m, m);
}

// |x| < 0.5: x + x p(x²).
Expr erf(Expr x) {
  const Expr a = abs(x);
  const Expr z = a * a;
  const Expr p =
      is_single(x)
          ? polynomial(z, {0x1.06eba8p-3, -0x1.812732p-2, 0x1.ce2510p-4, -0x1.b66610p-6,
                           0x1.354512p-8})
          : polynomial(z, {0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b29p-4,
                           -0x1.b82ce3127f739p-6, 0x1.565bcd0aa6349p-8, -0x1.c02db23d41138p-11,
                           0x1.f9a2a6635fe79p-14, -0x1.f4bb9f7301dedp-17, 0x1.b776442df3041p-20,
                           -0x1.39fb524e9c1f7p-23});
  const Expr small = fma(a, p, a);
  const Expr large = 1.0 - upper_tail(a);
  return functions::with_sign_of(select(lt(a, 0.5), small, large), x);
}

// -a Q(a) for negative x = -a, x - x Q(x) for others, Q the upper tail of the distribution.
Expr gelu(Expr x) {
  const Expr a = clamped_magnitude(x, 16.0, 40.0);
  Expr share;
  if (is_single(x)) {
    share = short_gelu_share(a);
  } else {
    const Tail r = normal_tail(a);
    share = scale(fma(a, r.high, a * r.low), r.exponent);
  }
  return select(lt(x, 0.0), -share, x - share);
}

Expr gelu_slope(Expr x) {
  const Expr a = clamped_magnitude(x, 16.0, 40.0);
  Expr density, q;
  if (is_single(x)) {
    const ShortTail r = short_normal_tail(a);
    const Expr factor = x.builder().constant(x.dtype(), 0x1.988454p-2);
    density = scale_down(fma(r.rest, factor, factor), r.exponent);
    q = scale_down(r.q + fma(r.rest, r.q, r.q_low), r.exponent);
  } else {
    const Tail r = normal_tail(a);
    density = scale(r.power.high * 0x1.9884533d43651p-2, r.exponent);
    q = scale(r.high + r.low, r.exponent);
  }
  const Expr negative = fma(-a, density, q);
  return select(lt(x, 0.0), negative, 1.0 - negative);
}

Expr gelu_tanh(Expr x) {
  const Expr inner = clamped(x);
  const Logistic s = tanh_form(inner);
  const Expr product = scale(fma(inner, s.high, inner * s.low), s.exponent);
  return select(gt(x, inner), x, product);
}

// s + x w' s (1 - s) with s the logistic function of w.
Expr gelu_tanh_slope(Expr x) {
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Cubic c = cubic(is_single(x));
  const Expr inner = clamped(x);
  const Logistic logistic = tanh_form(inner);
  const Expr s = scale(logistic.high + logistic.low, logistic.exponent);
  const Expr rate = inner * fma(inner * inner, literal(3 * c.c2), literal(c.c1));
  return fma(rate * s, 1.0 - s, s);
}

}  // namespace groove::kernels
