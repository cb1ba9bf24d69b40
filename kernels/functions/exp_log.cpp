// exp, exp2, log, log2, log10, expm1 and log1p. Errors of both come to little more than the final
// rounding, because everything before it is carried with its rounding error (parts.cpp).
#include <cmath>
#include <limits>

#include "kernels/functions/parts.h"
#include "src/core/faults.h"

namespace groove::kernels {

Expr exp(Expr x) {
  const functions::Exponential e = functions::exponential(x);
  return functions::scale(e.high, e.exponent);
}

namespace {

// The result for x > 0 with the limits and the undefined cases of every logarithm.
Expr logarithm(Expr x, Expr positive) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Expr other = select(eq(x, 0.0), literal(-infinity), literal(std::nan("")));
  return select(gt(x, 0.0), select(lt(x, infinity), positive, x), other);
}

// The logarithm whose base has 1 / (high + low) as its natural one. Powers of the base come out
// exactly: the pair lacks 2^-66 of the result, which rounding removes.
Expr logarithm_in_base(Expr x, double high, double low) {
  const Expr wide = convert(x, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  if (functions::is_single(x)) {
    const Expr scaled = functions::log_of_positive(wide) * literal(high);
    return logarithm(x, convert(scaled, x.dtype()));
  }
  const functions::Pair natural = functions::log_as_pair(wide);
  const functions::Pair product = functions::exact_product(natural.high, literal(high));
  const Expr rest = fma(natural.high, literal(low), fma(natural.low, literal(high), product.low));
  return logarithm(x, product.high + rest);
}

}  // namespace

// The fraction that rounding to an integer leaves is exact, and so is its product with ln 2 as a
// pair.
Expr exp2(Expr x) {
  const bool single = functions::is_single(x);
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  // Written so that NaN, always the second operand, passes.
  x = min(literal(single ? 130.0 : 1030.0), max(literal(single ? -160.0 : -1090.0), x));
  const Expr n = round_even(x), fraction = x - n;
  const Expr high = literal(single ? 0x1.62e430p-1 : 0x1.62e42fefa39efp-1);
  const Expr low = literal(single ? -0x1.05c610p-29 : 0x1.abc9e3b39803fp-56);
  const functions::Pair product = functions::exact_product(fraction, high);
  const functions::Exponential e =
      functions::exponential(product.high, fma(fraction, low, product.low));
  return functions::scale(e.high, e.exponent + n);
}

Expr log(Expr x) { return logarithm(x, functions::log_of_positive(x)); }
Expr log2(Expr x) { return logarithm_in_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }
Expr log10(Expr x) { return logarithm_in_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }

// The exponential as a sum of two lacks nothing when 1 is subtracted from its larger part.
Expr expm1(Expr x) {
  const functions::Exponential e = functions::exponential(x);
  const Expr power = functions::scale(e.high, e.exponent);
  const functions::Pair rest = functions::exact_sum(power, x.builder().constant(x.dtype(), -1.0));
  const Expr low = rest.low + functions::scale(e.low, e.exponent);
  // From 2^60 on the 1 is invisible, and infinity would make the low part NaN.
  const Expr result = select(gt(e.exponent, 60.0), power, rest.high + low);
  return select(lt(abs(x), functions::is_single(x) ? 0x1p-26 : 0x1p-55), x, result);
}

// log(u) + c / u with the exact sum u + c = 1 + x.
Expr log1p(Expr x) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const functions::Pair sum = functions::exact_sum(literal(1.0), x);
  const Expr finite = has_fault(Fault::kWorsePolynomial)
                          ? functions::log_of_positive(sum.high)
                          : functions::log_of_positive(sum.high, sum.low / sum.high);
  const Expr inside = select(lt(x, infinity), finite, x);
  const Expr outside = select(eq(x, -1.0), literal(-infinity), literal(std::nan("")));
  const Expr result = select(gt(x, -1.0), inside, outside);
  return select(lt(abs(x), functions::is_single(x) ? 0x1p-26 : 0x1p-55), x, result);
}

// Of small powers p, p - p²/2 is left, rounded once; from 64 on the 1 is invisible. NaN comes as
// the power.
Expr functions::softplus(Expr x) {
  const Exponential e = exponential(x);
  const Expr power = scale(e.high, e.exponent), power_low = scale(e.low, e.exponent);
  const Pair sum = exact_sum(x.builder().constant(x.dtype(), 1.0), power);
  const Expr curved = log_of_positive(sum.high, (sum.low + power_low) / sum.high);
  const Expr small = power + fma(power * -0.5, power, power_low);
  const Expr finite = select(ge(power, is_single(x) ? 0x1p-12 : 0x1p-27), curved, small);
  return select(gt(x, 64.0), x, finite);
}

}  // namespace groove::kernels
