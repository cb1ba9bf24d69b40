// pow with the special cases of C99 (Annex F). f32 goes through log and exp in f64; f64 carries
// the logarithm and its product with y as sums of two.
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::exact_product;
using functions::Pair;

// |x|^y for x not 1 or y finite: exp(y log |x|), with the exact limits at 0 and infinity.
Expr power_of_magnitude(Expr magnitude, Expr y, bool single) {
  const auto literal = [&](double value) { return y.builder().constant(kDouble, value); };
  const double infinity = std::numeric_limits<double>::infinity();
  const Expr limit = select(eq(magnitude, 0.0), literal(-infinity), magnitude);
  const Expr is_regular = gt(magnitude, 0.0) & lt(magnitude, infinity);
  if (single) {
    const Expr logarithm = select(is_regular, functions::log_of_positive(magnitude), limit);
    const Expr product = select(eq(logarithm, 0.0), logarithm, y * logarithm);
    return exp(product);
  }
  const Pair logarithm = functions::log_as_pair(magnitude);
  const Expr high = select(is_regular, logarithm.high, limit);
  const Pair product = exact_product(y, high);
  const Expr low = fma(y, logarithm.low, product.low);
  // Beyond these bounds the clamp of the exponential decides; there the low part may be NaN.
  const Expr is_moderate = is_regular & lt(abs(product.high), 800.0);
  const functions::Exponential e = functions::exponential(select(eq(high, 0.0), high, product.high),
                                                          select(is_moderate, low, literal(0.0)));
  return functions::scale(e.high, e.exponent);
}

}  // namespace

Expr pow(Expr x, Expr y) {
  const bool single = functions::is_single(x);
  const ScalarType dtype = x.dtype();
  const double infinity = std::numeric_limits<double>::infinity();
  x = convert(x, kDouble);
  y = convert(y, kDouble);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Expr magnitude = abs(x);
  const Expr power = power_of_magnitude(magnitude, y, single);

  // Infinities and all numbers from 2^53 up are even integers.
  const Expr half = y * 0.5;
  const Expr is_integer = eq(trunc(y), y);
  const Expr is_odd = is_integer & ne(trunc(half), half);
  const Expr has_sign = lt(bitcast(x, kLong), 0.0);
  const Expr with_sign = select(has_sign & is_odd, -power, power);
  const Expr is_undefined = lt(x, 0.0) & gt(x, -infinity) & ~is_integer;
  const Expr defined =
      select(is_undefined, literal(std::numeric_limits<double>::quiet_NaN()), with_sign);
  const Expr with_nan = select(is_nan(y), y, defined);
  const Expr is_one = eq(x, 1.0) | eq(y, 0.0);
  return convert(select(is_one, literal(1.0), with_nan), dtype);
}

}  // namespace groove::kernels
