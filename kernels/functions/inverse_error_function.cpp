// erfinv. Up to 1/2 an odd polynomial; above, a polynomial in s = sqrt(-log(1 - x²)) times s, which
// f64 improves by one step of Halley's method on erfc. Coefficients: interpolation at Chebyshev
// nodes in 60 digits, rounded.
#include <limits>

#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::polynomial;

Expr slope_at_centre(Expr z, bool single) {
  if (single) {
    return polynomial(
        z, {0x1.c5bf8920b521fp-1, 0x1.db29da312aa17p-3, 0x1.0544536e06f13p-3, 0x1.610602ef948f8p-4,
            0x1.1a79a8b83bc35p-4, 0x1.e98cf9337cf0ep-6, 0x1.8f24ae4f5ddddp-4});
  }
  return polynomial(
      z, {0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee689p-3, 0x1.053c2c0aaea5bp-3, 0x1.62847c5030b10p-4,
          0x1.0a1316e360adep-4, 0x1.a7c8c9862a980p-5, 0x1.5ee26d79186fep-5, 0x1.2b3241ebd123ep-5,
          0x1.fe489d940b004p-6, 0x1.02cffec11edfbp-5, 0x1.14c247c497d2ap-7, 0x1.2cda1f60e8ff3p-4,
          -0x1.3798f596e9a6ep-4, 0x1.cf6da366a6ea3p-4});
}

Expr slope_of_tail(Expr s, bool single) {
  if (single) {
    return polynomial(s - 2.25,
                      {0x1.dacbc5f29689fp-1, 0x1.9fe746c29df94p-6, -0x1.7e462182d96e3p-9,
                       -0x1.d1f02f33d6a5ap-10, 0x1.01a0a0164fbbbp-10, -0x1.8125f07eb3e39p-16,
                       -0x1.5f610eb1205cfp-13, 0x1.8e54f27dd6d5ep-15, 0x1.8add68a9e14cfp-16,
                       -0x1.02730e3a9bfdep-16, -0x1.ba4e093cb9c04p-20, 0x1.b12e342d8193ap-19,
                       -0x1.061739271689ep-22, -0x1.c52eb6769d77ep-22, 0x1.5a7ab88964551p-24,
                       0x1.ba3ca86eb46cdp-26, -0x1.df0d621cafa63p-28});
  }
  return polynomial(s - 3.25,
                    {0x1.e5d3060967ff3p-1,   0x1.1d7ba55d116e7p-6,   -0x1.018b5e780ee3fp-8,
                     0x1.decb47c348e43p-12,  0x1.01ce23e1a64d8p-13,  -0x1.bd801c2c9b57cp-14,
                     0x1.4f8a8a34e5f2fp-15,  -0x1.d0788f30c69c7p-18, -0x1.056490ae91f80p-19,
                     0x1.1064e0ea03339p-19,  -0x1.ec19a5179ba34p-21, 0x1.81f33f449e902p-23,
                     0x1.39d8a2c94bce1p-23,  -0x1.ee3f331b03108p-24, 0x1.fa1a5d524940ep-29,
                     0x1.4fac2189ec589p-26,  -0x1.e8884e0b0f253p-29, -0x1.e958d35171af7p-30,
                     0x1.0166d916f96b2p-31,  0x1.860d87c03e9cfp-34,  -0x1.f1129d78b0f21p-36,
                     -0x1.0cafbe394029cp-39, 0x1.82d51375ae834p-41});
}

}  // namespace

Expr erfinv(Expr x) {
  const bool single = functions::is_single(x);
  const Expr wide = convert(x, kDouble), magnitude = abs(wide);
  const auto literal = [&](double value) { return x.builder().constant(kDouble, value); };
  const Expr centre = magnitude * slope_at_centre(magnitude * magnitude, single);
  const Expr complement = literal(1.0) - magnitude;
  const Expr s = sqrt(-log(complement * (magnitude + 1.0)));
  Expr tail = s * slope_of_tail(s, single);
  if (!single) {
    // The derivative of erf is 2 / sqrt(pi) exp(-y²), its second one -2 y times that.
    const Expr step = (erfc(tail) - complement) * exp(tail * tail) * 0x1.c5bf891b4ef6bp-1;
    tail = tail + fma(step * tail, step, step);
  }
  const Expr limit = literal(std::numeric_limits<double>::infinity());
  const Expr outer = select(eq(magnitude, 1.0), limit, tail);
  const Expr result = select(lt(magnitude, 0.5), centre, outer);
  return convert(functions::with_sign_of(result, wide), x.dtype());
}

}  // namespace groove::kernels
