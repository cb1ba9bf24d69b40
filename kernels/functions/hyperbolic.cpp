// sinh and cosh from h = exp(|x|) / 2, which overflows only where they do: h - 1 / (4 h) and
// h + 1 / (4 h). Below 1, where sinh would cancel, it is a polynomial. Coefficients: interpolation
// at Chebyshev nodes in 60 digits, rounded.
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::exact_sum;
using functions::Pair;
using functions::polynomial;

// h as a pair, and 1 / (4 h).
struct Halves {
  Pair growing;
  Expr falling;
};
Halves halves(Expr magnitude) {
  const auto literal = [&](double value) { return magnitude.builder().constant(kDouble, value); };
  const Pair shifted = exact_sum(min(literal(800.0), magnitude), literal(-0x1.62e42fefa39efp-1));
  const functions::Exponential e =
      functions::exponential(shifted.high, shifted.low - 0x1.abc9e3b39803fp-56);
  const Expr inverse = literal(0.25) / e.high;
  const Expr falling = fma(-inverse, e.low / e.high, inverse);
  return {{functions::scale(e.high, e.exponent), functions::scale(e.low, e.exponent)},
          functions::scale(falling, -e.exponent)};
}

// growing + falling; the rounding error of an infinite sum is NaN.
Expr sum(const Pair& growing, Expr falling) {
  const Pair total = exact_sum(growing.high, falling);
  const Expr is_finite = lt(total.high, std::numeric_limits<double>::infinity());
  return select(is_finite, total.high + (total.low + growing.low), growing.high);
}

}  // namespace

Expr sinh(Expr x) {
  const Expr wide = convert(x, kDouble), magnitude = abs(wide);
  const Expr z = magnitude * magnitude;
  const Expr p =
      functions::is_single(x)
          ? polynomial(z, {0x1.5555554e858c9p-3, 0x1.11111eaff05ecp-7, 0x1.a008ffbc060dap-13,
                           0x1.78a70e32a02ebp-19})
          : polynomial(z, {0x1.5555555555555p-3, 0x1.11111111110fdp-7, 0x1.a01a01a01ee70p-13,
                           0x1.71de3a4e14f40p-19, 0x1.ae6460fae3728p-26, 0x1.611cb330c1fe8p-33,
                           0x1.b41232cf9950fp-41});
  const Expr small = fma(magnitude * z, p, magnitude);
  const Halves h = halves(magnitude);
  const Expr result = select(lt(magnitude, 1.0), small, sum(h.growing, -h.falling));
  return convert(functions::with_sign_of(result, wide), x.dtype());
}

Expr cosh(Expr x) {
  const Halves h = halves(abs(convert(x, kDouble)));
  return convert(sum(h.growing, h.falling), x.dtype());
}

}  // namespace groove::kernels
