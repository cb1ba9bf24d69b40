// The functions of groove/ops/special_functions.h under LibTorch's names.
#pragma once

#include "groove/compat/names.h"
#include "groove/ops/special_functions.h"

#define GROOVE_SPECIAL_NAMES(X) \
  GROOVE_POLYNOMIALS(X)         \
  X(gammainc)                   \
  X(gammaincc)                  \
  X(zeta)                       \
  X(erfcx)                      \
  X(ndtri)                      \
  X(bessel_j0)                  \
  X(bessel_j1)                  \
  X(bessel_y0)                  \
  X(bessel_y1)                  \
  X(modified_bessel_i0)         \
  X(modified_bessel_i1)         \
  X(modified_bessel_k0)         \
  X(modified_bessel_k1)         \
  X(scaled_modified_bessel_k0)  \
  X(scaled_modified_bessel_k1)  \
  X(spherical_bessel_j0)        \
  X(airy_ai)

namespace at {
using groove::igamma;
using groove::igammac;
#define GROOVE_USING(name) using groove::special_##name;
GROOVE_SPECIAL_NAMES(GROOVE_USING)
}  // namespace at
namespace torch {
using groove::igamma;
using groove::igammac;
GROOVE_SPECIAL_NAMES(GROOVE_USING)
#undef GROOVE_USING
namespace special {
#define GROOVE_USING(name) using groove::special::name;
GROOVE_SPECIAL_NAMES(GROOVE_USING)
#undef GROOVE_USING
}  // namespace special
}  // namespace torch
#undef GROOVE_SPECIAL_NAMES
