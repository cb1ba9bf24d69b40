// By Kahan's formulas ("Branch Cuts for Complex Elementary Functions", 1987), which go through the
// roots of 1 - z and 1 + z and cancel nothing.
#include "kernels/ops/complex_inverses.h"

#include "groove/ops/elementwise.h"

namespace groove::complex_rules {
namespace {

// Of 1 + z and 1 - z, whose imaginary part is -y also where y is 0: its sign tells the side of a
// branch cut.
Parts root_of_one_plus(const Tensor& re, const Tensor& im) {
  return parts_of(square_root(joined(re + 1, im)));
}
Parts root_of_one_less(const Tensor& re, const Tensor& im) {
  return parts_of(square_root(joined(rsub(re, 1), neg(im))));
}
// The imaginary part of conj(a) b.
Tensor turned(const Parts& a, const Parts& b) { return sub(mul(a.re, b.im), mul(a.im, b.re)); }

Parts arc_sine_of(const Tensor& re, const Tensor& im) {
  const Parts less = root_of_one_less(re, im), more = root_of_one_plus(re, im);
  const Tensor across = sub(mul(less.re, more.re), mul(less.im, more.im));
  return {atan2(re, across), asinh(turned(less, more))};
}
Parts hyperbolic_arc_tangent_of(const Tensor& re, const Tensor& im) {
  const Tensor less = rsub(re, 1), squares = add(square(less), square(im));
  return {mul(log1p(div(mul(re, 4), squares)), 0.25),
          mul(atan2(mul(im, 2), sub(mul(less, add(re, 1)), square(im))), 0.5)};
}

}  // namespace

Tensor arc_sine(const Tensor& z) {
  const Parts parts = parts_of(z), result = arc_sine_of(parts.re, parts.im);
  return joined(result.re, result.im);
}
Tensor arc_cosine(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Parts less = root_of_one_less(parts.re, parts.im),
              more = root_of_one_plus(parts.re, parts.im);
  return joined(mul(atan2(less.re, more.re), 2), asinh(turned(more, less)));
}
Tensor arc_tangent(const Tensor& z) {  // -i atanh(i z)
  const Parts parts = parts_of(z);
  const Parts result = hyperbolic_arc_tangent_of(neg(parts.im), parts.re);
  return joined(result.im, neg(result.re));
}
Tensor hyperbolic_arc_sine(const Tensor& z) {  // -i asin(i z)
  const Parts parts = parts_of(z), result = arc_sine_of(neg(parts.im), parts.re);
  return joined(result.im, neg(result.re));
}
Tensor hyperbolic_arc_cosine(const Tensor& z) {
  const Parts parts = parts_of(z);
  const Parts less = parts_of(square_root(joined(sub(parts.re, 1), parts.im)));
  const Parts more = root_of_one_plus(parts.re, parts.im);
  const Tensor along = add(mul(less.re, more.re), mul(less.im, more.im));
  return joined(asinh(along), mul(atan2(less.im, more.re), 2));
}
Tensor hyperbolic_arc_tangent(const Tensor& z) {
  const Parts parts = parts_of(z), result = hyperbolic_arc_tangent_of(parts.re, parts.im);
  return joined(result.re, result.im);
}

}  // namespace groove::complex_rules
