// rsqrt: 1 / sqrt(x) with one correction for the roundings of both.
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {

// With s = sqrt(x) and y = 1 / s as rounded, the fma's give both errors exactly:
// x^(-1/2) = y (1 + (1 - s y) - (x - s²) / (2 x)), and 1 / x is y² to first order. Small x are
// scaled up so that x - s² does not underflow.
Expr rsqrt(Expr x) {
  const bool single = functions::is_single(x);
  const auto literal = [&](double value) { return x.builder().constant(x.dtype(), value); };
  const Expr is_small = lt(x, single ? 0x1p-60 : 0x1p-900);
  const Expr scaled = select(is_small, x * (single ? 0x1p64 : 0x1p256), x);
  const Expr s = sqrt(scaled);
  const Expr y = literal(1.0) / s;
  const Expr division_error = fma(-s, y, literal(1.0));
  const Expr root_error = fma(-s, s, scaled);
  const Expr correction = division_error - root_error * 0.5 * y * y;
  const Expr is_regular = gt(x, 0.0) & lt(x, std::numeric_limits<double>::infinity());
  const Expr result = select(is_regular, fma(y, correction, y), y);
  return result * select(is_small, literal(single ? 0x1p32 : 0x1p128), literal(1.0));
}

}  // namespace groove::kernels
