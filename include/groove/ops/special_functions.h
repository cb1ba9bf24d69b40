// torch::special: the functions that few programs call; under their names there and as special_….
// Integers give the default dtype. Two operands broadcast and promote; numbers stand for either.
#pragma once

#include "groove/ops/special.h"

namespace groove {

/// The lower and the upper incomplete gamma function of order self at other, over gamma(self),
/// which add up to 1; NaN where either is negative. Only other has a gradient.
Tensor igamma(Arg self, const Tensor& other);
Tensor igammac(Arg self, const Tensor& other);
inline Tensor special_gammainc(Arg self, const Tensor& other) { return igamma(self, other); }
inline Tensor special_gammaincc(Arg self, const Tensor& other) { return igammac(self, other); }
/// The sum of (k + other)^-self over k from 0 on (Hurwitz). Only other has a gradient.
Tensor special_zeta(Arg self, const Tensor& other);
Tensor special_zeta(Arg self, Scalar other);
Tensor special_zeta(Scalar self, Arg other);
/// exp(self^2) erfc(self), and the inverse of special_ndtr.
Tensor special_erfcx(Arg self);
Tensor special_ndtri(Arg self);

/// Bessel functions of the first and the second kind, of order 0 and 1.
Tensor special_bessel_j0(Arg self);
Tensor special_bessel_j1(Arg self);
Tensor special_bessel_y0(Arg self);
Tensor special_bessel_y1(Arg self);
/// Modified ones; scaled are exp(self) times them.
inline Tensor special_modified_bessel_i0(Arg self) { return i0(self); }
inline Tensor special_modified_bessel_i1(Arg self) { return special_i1(self); }
Tensor special_modified_bessel_k0(Arg self);
Tensor special_modified_bessel_k1(Arg self);
// From here on without a gradient, as in LibTorch.
Tensor special_scaled_modified_bessel_k0(Arg self);
Tensor special_scaled_modified_bessel_k1(Arg self);
/// sin(self) / self
Tensor special_spherical_bessel_j0(Arg self);
Tensor special_airy_ai(Arg self);

// Polynomials of degree n (its whole part; 0 below 0) at x: of Chebyshev, of the first to the
// fourth kind, and those at 2 x - 1; of Hermite (of physicists and probabilists; NaN beyond degree
// 512), Laguerre and Legendre (NaN beyond 65,536).
#define GROOVE_POLYNOMIALS(X)       \
  X(chebyshev_polynomial_t)         \
  X(chebyshev_polynomial_u)         \
  X(chebyshev_polynomial_v)         \
  X(chebyshev_polynomial_w)         \
  X(shifted_chebyshev_polynomial_t) \
  X(shifted_chebyshev_polynomial_u) \
  X(shifted_chebyshev_polynomial_v) \
  X(shifted_chebyshev_polynomial_w) \
  X(hermite_polynomial_h)           \
  X(hermite_polynomial_he)          \
  X(laguerre_polynomial_l)          \
  X(legendre_polynomial_p)
#define GROOVE_POLYNOMIAL(name)                                               \
  Tensor special_##name(Arg x, const Tensor& n);                              \
  Tensor special_##name(Arg x, Scalar n);                                     \
  Tensor special_##name(Scalar x, Arg n);                                     \
  namespace special {                                                         \
  inline Tensor name(Arg x, const Tensor& n) { return special_##name(x, n); } \
  inline Tensor name(Arg x, Scalar n) { return special_##name(x, n); }        \
  inline Tensor name(Scalar x, Arg n) { return special_##name(x, n); }        \
  }
GROOVE_POLYNOMIALS(GROOVE_POLYNOMIAL)
#undef GROOVE_POLYNOMIAL

namespace special {

inline Tensor gammainc(Arg self, const Tensor& other) { return igamma(self, other); }
inline Tensor gammaincc(Arg self, const Tensor& other) { return igammac(self, other); }
inline Tensor zeta(Arg self, const Tensor& other) { return special_zeta(self, other); }
inline Tensor zeta(Arg self, Scalar other) { return special_zeta(self, other); }
inline Tensor zeta(Scalar self, Arg other) { return special_zeta(self, other); }
inline Tensor erfcx(Arg self) { return special_erfcx(self); }
inline Tensor ndtri(Arg self) { return special_ndtri(self); }
inline Tensor bessel_j0(Arg self) { return special_bessel_j0(self); }
inline Tensor bessel_j1(Arg self) { return special_bessel_j1(self); }
inline Tensor bessel_y0(Arg self) { return special_bessel_y0(self); }
inline Tensor bessel_y1(Arg self) { return special_bessel_y1(self); }
inline Tensor modified_bessel_i0(Arg self) { return special_i0(self); }
inline Tensor modified_bessel_i1(Arg self) { return special_i1(self); }
inline Tensor modified_bessel_k0(Arg self) { return special_modified_bessel_k0(self); }
inline Tensor modified_bessel_k1(Arg self) { return special_modified_bessel_k1(self); }
inline Tensor scaled_modified_bessel_k0(Arg self) {
  return special_scaled_modified_bessel_k0(self);
}
inline Tensor scaled_modified_bessel_k1(Arg self) {
  return special_scaled_modified_bessel_k1(self);
}
inline Tensor spherical_bessel_j0(Arg self) { return special_spherical_bessel_j0(self); }
inline Tensor airy_ai(Arg self) { return special_airy_ai(self); }

}  // namespace special
}  // namespace groove
