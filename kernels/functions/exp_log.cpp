// exp, log, expm1 and log1p. Errors of both come to little more than the final rounding, because
// everything before it is carried with its rounding error (parts.cpp).
#include <cmath>
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {

Expr exp(Expr x) {
  const functions::Exponential e = functions::exponential(x);
  return functions::scale(e.high, e.exponent);
}

Expr log(Expr x) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Expr positive = select(lt(x, infinity), functions::log_of_positive(x), x);
  const Expr other = select(eq(x, 0.0), literal(-infinity), literal(std::nan("")));
  return select(gt(x, 0.0), positive, other);
}

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
  const Expr finite = functions::log_of_positive(sum.high, sum.low / sum.high);
  const Expr inside = select(lt(x, infinity), finite, x);
  const Expr outside = select(eq(x, -1.0), literal(-infinity), literal(std::nan("")));
  const Expr result = select(gt(x, -1.0), inside, outside);
  return select(lt(abs(x), functions::is_single(x) ? 0x1p-26 : 0x1p-55), x, result);
}

}  // namespace groove::kernels
