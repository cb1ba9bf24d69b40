// exp and log. Errors of both come to little more than the final rounding, because everything
// before it is carried with its rounding error (parts.cpp).
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

}  // namespace groove::kernels
