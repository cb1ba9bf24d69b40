// sin, cos and tan. f32 is computed in f64, where two parts of pi/2 reduce every argument up to
// 2^36 and short polynomials suffice; f64 carries the reduced argument as a sum of two. Larger
// arguments take Payne-Hanek reduction behind if_any.
#include <bit>
#include <limits>

#include "kernels/functions/parts.h"
#include "kernels/functions/two_over_pi.h"

namespace groove::kernels {
namespace {

using functions::exact_product;
using functions::exact_sum;
using functions::Pair;
using functions::polynomial;
using functions::quick_sum;

constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;
// Up to here n = x / (pi/2) is small enough for three parts in f64 and two for f32 results.
constexpr double kBoundDouble = 0x1p20, kBoundSingle = 0x1p36;

enum class Precision { kSingle, kDouble };

// x = r + n pi/2 with r = high + low, |r| <= pi/4; n an integral f64, needed modulo 4.
struct Reduced {
  Pair r;
  Expr n;
};

// The first fma is exact: r is a multiple of the last place of pi/2's first part or of x's.
template <Precision kPrecision>
Reduced reduce(Expr x) {
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Expr n = round_even(x * kInverseHalfPi);
  const Expr first = fma(-n, literal(kHalfPi[0]), x);
  if constexpr (kPrecision == Precision::kSingle) {
    return {{fma(-n, literal(kHalfPi[1]), first), {}}, n};
  } else {
    const Pair second = exact_product(-n, literal(kHalfPi[1]));
    const Pair sum = exact_sum(first, second.high);
    const Expr low = sum.low + fma(-n, literal(kHalfPi[2]), second.low);
    return {quick_sum(sum.high, low), n};
  }
}

// Payne-Hanek in f64: x = y 2^(32 j) where y < 2^84 is an integer if j > 0, so multiples of 4 may
// be dropped from 2/pi 2^(32 j) beforehand (the table) and from each exact product.
Reduced reduce_large(Expr x) {
  Builder& b = x.builder();
  const auto integer = [&](std::int64_t value) { return b.constant_int(kLong, value); };
  const auto literal = [&](double value) { return b.constant(kDouble, value); };
  const Expr bits = bitcast(x, kLong);
  const Expr exponent = shift_right_logical(bits, integer(52)) & integer(0x7ff);
  const Expr above = max(exponent - integer(1023 + 52), integer(0));
  const Expr j = shift_right_logical(above, integer(5));
  const Expr y = bitcast(bits - shift_left(j, integer(52 + 5)), kDouble);
  Expr part[4];
  for (int i = 0; i < 4; ++i) {
    Table table{kDouble, {}};
    for (double value : functions::kTwoOverPi[i]) {
      table.bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    part[i] = b.lookup(b.table(std::move(table)), j);
  }
  const auto modulo_4 = [&](Expr v) { return fma(round_even(v * 0.25), literal(-4.0), v); };
  const Pair p0 = exact_product(y, part[0]), p1 = exact_product(y, part[1]);
  const Pair p2 = exact_product(y, part[2]);
  const Pair s0 = exact_sum(modulo_4(p0.high), modulo_4(p0.low));
  const Pair s1 = exact_sum(s0.high, modulo_4(p1.high));
  const Expr n = round_even(s1.high);
  // The fraction, largest terms first; cancellation leaves its error terms exact.
  Pair f{s1.high - n, fma(y, part[3], p2.low)};
  for (Expr term : {s1.low, s0.low, p1.low, p2.high}) {
    const Pair sum = exact_sum(f.high, term);
    f = {sum.high, f.low + sum.low};
  }
  f = quick_sum(f.high, f.low);
  const Pair r = exact_product(f.high, literal(kHalfPi[0]));
  const Expr low = fma(f.high, literal(kHalfPi[1]), fma(f.low, literal(kHalfPi[0]), r.low));
  return {quick_sum(r.high, low), n};
}

// sin r for |r| <= pi/4; z is the square of its high part. The low part is there in f64 only.
template <Precision kPrecision>
Pair sine_polynomial(const Pair& r, Expr z) {
  if constexpr (kPrecision == Precision::kSingle) {
    const Expr p = polynomial(z, {-0x1.5555555454057p-3, 0x1.11110dd6f24b2p-7,
                                  -0x1.a0138702ef739p-13, 0x1.6db3872f5e48bp-19});
    return {fma(r.high * z, p, r.high), {}};
  } else {
    const Expr p =
        polynomial(z, {-0x1.5555555555555p-3, 0x1.1111111111110p-7, -0x1.a01a01a0198dep-13,
                       0x1.71de3a5455b9ap-19, -0x1.ae64540000f84p-26, 0x1.6121703ee57b1p-33,
                       -0x1.ab0f25d21fd92p-41});
    const Expr low = fma(z * -0.5, r.low, r.low);
    return quick_sum(r.high, fma(r.high * z, p, low));
  }
}

template <Precision kPrecision>
Pair cosine_polynomial(const Pair& r, Expr z) {
  const Expr one = z.builder().constant(kDouble, 1.0);
  if constexpr (kPrecision == Precision::kSingle) {
    const Expr p = polynomial(z, {-0.5, 0x1.55555554ff76fp-5, -0x1.6c16bf44b915cp-10,
                                  0x1.a015aebf2d52dp-16, -0x1.251d4aa551446p-22});
    return {fma(z, p, one), {}};
  } else {
    const Expr p =
        polynomial(z, {0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019ce2p-16,
                       -0x1.27e4fb770e01dp-22, 0x1.1eed8de33ebe0p-29, -0x1.9394ace29bd7bp-37,
                       0x1.ab70a23137c25p-45});
    const Pair head = quick_sum(one, z * -0.5);
    return quick_sum(head.high, head.low + fma(z * z, p, -(r.high * r.low)));
  }
}

// sin(x + shift pi/2) from the reduced argument.
template <Precision kPrecision, int kShift>
Expr evaluate(const Reduced& reduced) {
  Builder& b = reduced.n.builder();
  const Expr z = reduced.r.high * reduced.r.high;
  const Expr quadrant = bitcast(reduced.n + (0x1.8p52 + kShift), kLong);
  const Expr one = b.constant_int(kLong, 1);
  const Expr value =
      select(ne(quadrant & one, 0.0), cosine_polynomial<kPrecision>(reduced.r, z).high,
             sine_polynomial<kPrecision>(reduced.r, z).high);
  const Expr sign = shift_left(shift_right_logical(quadrant, one), b.constant_int(kLong, 63));
  return bitcast(bitcast(value, kLong) ^ sign, kDouble);
}

// sin / cos, or -cos / sin in the odd quadrants.
template <Precision kPrecision>
Expr evaluate_tangent(const Reduced& reduced) {
  Builder& b = reduced.n.builder();
  const Expr z = reduced.r.high * reduced.r.high;
  const Pair sine = sine_polynomial<kPrecision>(reduced.r, z);
  const Pair cosine = cosine_polynomial<kPrecision>(reduced.r, z);
  const Expr quadrant = bitcast(reduced.n + 0x1.8p52, kLong);
  const Expr is_odd = ne(quadrant & b.constant_int(kLong, 1), 0.0);
  const auto pick = [&](Expr odd, Expr even) { return select(is_odd, odd, even); };
  if constexpr (kPrecision == Precision::kSingle) {
    return pick(-cosine.high, sine.high) / pick(sine.high, cosine.high);
  } else {
    const Pair q = functions::quotient({pick(-cosine.high, sine.high), pick(-cosine.low, sine.low)},
                                       {pick(sine.high, cosine.high), pick(sine.low, cosine.low)});
    return q.high + q.low;
  }
}

template <int kShift>
Expr evaluate_large(Expr x) {
  return evaluate<Precision::kDouble, kShift>(reduce_large(x));
}
Expr evaluate_large_tangent(Expr x) {
  return evaluate_tangent<Precision::kDouble>(reduce_large(x));
}

// Infinities stay with the fast path, which makes them NaN.
Expr is_large(Expr x, bool single) {
  const Expr magnitude = abs(x);
  return gt(magnitude, single ? kBoundSingle : kBoundDouble) &
         lt(magnitude, std::numeric_limits<double>::infinity());
}
// Also for -0, which the reduction would make +0.
Expr unless_tiny(Expr x, Expr result) { return select(lt(abs(x), 0x1p-27), x, result); }

template <Precision kPrecision>
functions::SineAndCosine both(Expr x) {
  const Reduced reduced = reduce<kPrecision>(convert(x, kDouble));
  const Expr sine = convert(evaluate<kPrecision, 0>(reduced), x.dtype());
  return {unless_tiny(x, sine), convert(evaluate<kPrecision, 1>(reduced), x.dtype())};
}

template <int kShift>
Expr sine(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble);
  const Expr fast = single ? evaluate<Precision::kSingle, kShift>(reduce<Precision::kSingle>(wide))
                           : evaluate<Precision::kDouble, kShift>(reduce<Precision::kDouble>(wide));
  const Expr result =
      convert(if_any(is_large(wide, single), fast, evaluate_large<kShift>, wide), x.dtype());
  return kShift == 0 ? unless_tiny(x, result) : result;
}

}  // namespace

Expr sin(Expr x) { return sine<0>(x); }
Expr cos(Expr x) { return sine<1>(x); }
functions::SineAndCosine functions::sine_and_cosine(Expr x) {
  return is_single(x) ? both<Precision::kSingle>(x) : both<Precision::kDouble>(x);
}

Expr tan(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble);
  const Expr fast = single ? evaluate_tangent<Precision::kSingle>(reduce<Precision::kSingle>(wide))
                           : evaluate_tangent<Precision::kDouble>(reduce<Precision::kDouble>(wide));
  const Expr result = if_any(is_large(wide, single), fast, evaluate_large_tangent, wide);
  return unless_tiny(x, convert(result, x.dtype()));
}

// Beyond a quarter the other function of what is missing to a half, which is exact.
functions::HalfTurn functions::half_turn(Expr r) {
  const auto literal = [&](double value) { return r.builder().constant(kDouble, value); };
  const Expr magnitude = abs(r);
  const Expr is_beyond = gt(magnitude, 0.25);
  const Expr inner = select(is_beyond, literal(0.5) - magnitude, magnitude);
  const Pair product = exact_product(inner, literal(2 * kHalfPi[0]));
  const Pair angle = quick_sum(product.high, fma(inner, literal(2 * kHalfPi[1]), product.low));
  const Expr z = angle.high * angle.high;
  const Pair sine = sine_polynomial<Precision::kDouble>(angle, z);
  const Pair cosine = cosine_polynomial<Precision::kDouble>(angle, z);
  const auto pick = [&](Expr beyond, Expr within) { return select(is_beyond, beyond, within); };
  const Expr is_negative = lt(r, 0.0);
  const Pair folded = {pick(cosine.high, sine.high), pick(cosine.low, sine.low)};
  return {{select(is_negative, -folded.high, folded.high),
           select(is_negative, -folded.low, folded.low)},
          {pick(sine.high, cosine.high), pick(sine.low, cosine.low)}};
}

}  // namespace groove::kernels
