// The bits of floating-point numbers, as integers of their width.
#pragma once

#include "kernels/expr.h"

namespace groove {

inline ScalarType word_of(ScalarType dtype) { return dtype == kDouble ? kLong : kInt; }
inline kernels::Expr bits_of(kernels::Expr x) { return bitcast(x, word_of(x.dtype())); }
/// Is the sign bit set, also of -0.0? bool. A NaN counts as the canonical one, whose sign bit is
/// not set: which sign it has, processors and compilers do not agree on.
inline kernels::Expr is_negative(kernels::Expr x) {
  if (!is_floating(x.dtype())) return kernels::lt(x, 0.0);
  const kernels::Expr bits = bits_of(x);
  const kernels::Expr is_set = kernels::lt(bits, bits.builder().constant_int(bits.dtype(), 0));
  return select(is_nan(x), bits.builder().constant_int(kBool, 0), is_set);
}

}  // namespace groove
