// asin, acos, atan and atan2. f32 is computed in f64; f64 carries what square roots and quotients
// leave over, and adds multiples of pi/4 as sums of two. Coefficients: interpolation at Chebyshev
// nodes in 60 digits, rounded.
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::exact_sum;
using functions::kPi;
using functions::Pair;
using functions::polynomial;
using functions::quick_sum;
using functions::with_sign_of;

// constant * (pi as a pair) + value, where the constant is a multiple of a quarter.
Expr plus_turns(Expr constant, const Pair& value) {
  const Pair sum = exact_sum(constant * kPi[0], value.high);
  return sum.high + fma(constant, constant.builder().constant(kDouble, kPi[1]),
                        value.low.defined() ? sum.low + value.low : sum.low);
}

// asin(s) = s + tail for 0 <= s <= 1/2: of the magnitude itself up to 1/2, above it of
// s = sqrt((1 - magnitude) / 2), half of whose complement it is.
struct Arcsine {
  Expr is_outer;
  Expr s, tail;
};
Arcsine arcsine(Expr magnitude, bool single) {
  const auto literal = [&](double value) { return magnitude.builder().constant(kDouble, value); };
  const Expr is_outer = gt(magnitude, 0.5);
  const Expr z = select(is_outer, (literal(1.0) - magnitude) * 0.5, magnitude * magnitude);
  const Expr root = sqrt(z);
  const Expr s = select(is_outer, root, magnitude);
  if (single) {
    const Expr p = polynomial(
        z, {0x1.5555555c0171dp-3, 0x1.33331ecf8b70bp-4, 0x1.6dc0f007c13e8p-5, 0x1.efedf83ab6506p-6,
            0x1.82db23768c84fp-6, 0x1.5a80a068e3ee2p-7, 0x1.fb7ca379d49c6p-6});
    return {is_outer, s, s * z * p};
  }
  const Expr p = polynomial(
      z, {0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
          0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
          0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
          0x1.d72b2bc8155f8p-6});
  const Expr root_low = fma(-root, root, z) / (max(literal(0x1p-500), root) * 2.0);
  return {is_outer, s, fma(s * z, p, select(is_outer, root_low, literal(0.0)))};
}

// atan(numerator / denominator) for 0 <= numerator <= denominator; above tan(pi/8) it is pi/4 and
// the angle of (numerator - denominator) / (numerator + denominator).
struct Octant {
  Expr quarters;  // of pi
  Pair rest;
};
Octant octant(Expr numerator, Expr denominator, bool single) {
  const auto literal = [&](double value) { return numerator.builder().constant(kDouble, value); };
  const Expr is_upper = gt(numerator, denominator * 0x1.a827999fcef32p-2);
  const auto pick = [&](Expr upper, Expr lower) { return select(is_upper, upper, lower); };
  const Pair difference = exact_sum(numerator, -denominator);
  const Pair sum = exact_sum(numerator, denominator);
  const Expr zero = literal(0.0), quarters = pick(literal(0.25), zero);
  const Pair above = {pick(difference.high, numerator), pick(difference.low, zero)};
  const Pair below = {pick(sum.high, denominator), pick(sum.low, zero)};
  if (single) {
    const Expr t = above.high / below.high, z = t * t;
    const Expr p =
        polynomial(z, {-0x1.5555554c099a8p-2, 0x1.99997b10270eap-3, -0x1.248a16707762dp-3,
                       0x1.c57b9120eab27p-4, -0x1.6143778c10af3p-4, 0x1.9d86ebba846aap-5});
    return {quarters, {fma(t * z, p, t), {}}};
  }
  const Pair t = functions::quotient(above, below);
  const Expr z = t.high * t.high;
  const Expr p = polynomial(
      z, {-0x1.5555555555555p-2, 0x1.999999999934ap-3, -0x1.24924924360cbp-3, 0x1.c71c7185314cbp-4,
          -0x1.745d0b26b83e7p-4, 0x1.3b1262d95579ep-4, -0x1.10fa75382537fp-4, 0x1.dfe61e80903d2p-5,
          -0x1.a098bb6ba4941p-5, 0x1.41603647c7a7cp-5, -0x1.3a2b7a07caea9p-6});
  return {quarters, {t.high, fma(t.high * z, p, t.low)}};
}

// The angle of a point with these coordinates' magnitudes; `swapped` when they were exchanged to
// bring it below the diagonal, `turned` when it lies left of the vertical axis. Of the four cases
// two count the angle backwards.
Expr angle(Expr numerator, Expr denominator, Expr swapped, Expr turned, bool single) {
  const auto literal = [&](double value) { return numerator.builder().constant(kDouble, value); };
  const Octant o = octant(numerator, denominator, single);
  const Expr sign = select(swapped ^ turned, literal(-1.0), literal(1.0));
  const Expr start = select(swapped, literal(0.5), select(turned, literal(1.0), literal(0.0)));
  const Pair rest = {o.rest.high * sign, o.rest.low.defined() ? o.rest.low * sign : Expr()};
  return plus_turns(fma(o.quarters, sign, start), rest);
}

}  // namespace

Expr asin(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Arcsine a = arcsine(abs(wide), single);
  const Expr outer = plus_turns(literal(0.5), {a.s * -2.0, a.tail * -2.0});
  return convert(with_sign_of(select(a.is_outer, outer, a.s + a.tail), wide), x.dtype());
}

Expr acos(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Arcsine a = arcsine(abs(wide), single);
  const Expr is_negative = lt(wide, 0.0);
  const auto by_sign = [&](double negative, double positive) {
    return select(is_negative, literal(negative), literal(positive));
  };
  const Expr turns = select(a.is_outer, by_sign(1.0, 0.0), literal(0.5));
  const Expr factor = select(a.is_outer, by_sign(-2.0, 2.0), by_sign(1.0, -1.0));
  return convert(plus_turns(turns, {factor * a.s, factor * a.tail}), x.dtype());
}

Expr atan(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  // From here on the angle is a right one. Written so that NaN, the second operand, passes.
  const Expr magnitude = min(literal(0x1p60), abs(wide));
  const Expr swapped = gt(magnitude, 1.0);
  const Expr result = angle(min(literal(1.0), magnitude), max(literal(1.0), magnitude), swapped,
                            ne(literal(0.0), literal(0.0)), single);
  return convert(with_sign_of(result, wide), x.dtype());
}

Expr atan2(Expr y, Expr x) {
  const bool single = functions::is_single(x);
  const ScalarType dtype = x.dtype();
  const double infinity = std::numeric_limits<double>::infinity();
  y = convert(y, kDouble);
  x = convert(x, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Expr height = abs(y), width = abs(x);
  const Expr swapped = gt(height, width);
  Expr numerator = select(swapped, width, height), denominator = select(swapped, height, width);
  // An infinite denominator counts as 1, beside an infinite numerator or a vanishing one; zeros
  // have the angle of (1, 0).
  const Expr is_infinite = eq(denominator, infinity);
  const Expr beside = select(eq(numerator, infinity), literal(1.0), numerator * 0.0);
  numerator = select(is_infinite, beside, numerator);
  denominator = select(is_infinite | eq(denominator, 0.0), literal(1.0), denominator);
  if (!single) {  // keeps sums finite and remainders normal
    const Expr factor = select(gt(denominator, 0x1p900), literal(0x1p-120),
                               select(lt(denominator, 0x1p-800), literal(0x1p200), literal(1.0)));
    numerator = numerator * factor;
    denominator = denominator * factor;
  }
  const Expr turned = lt(bitcast(x, kLong), 0.0);
  const Expr result = angle(numerator, denominator, swapped, turned, single);
  return convert(with_sign_of(result, y), dtype);
}

}  // namespace groove::kernels
