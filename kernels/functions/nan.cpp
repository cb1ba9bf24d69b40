// NaN tests and the maximum and minimum that propagate NaN.
#include "kernels/expr.h"

namespace groove::kernels {

Expr is_nan(Expr x) {
  if (!is_floating(x.dtype())) return x.builder().constant_int(kBool, 0);
  return ne(x, x);
}

// The primitive gives its second operand when either is NaN.
Expr max_nan(Expr a, Expr b) {
  return is_floating(a.dtype()) ? select(is_nan(a), a, max(a, b)) : max(a, b);
}
Expr min_nan(Expr a, Expr b) {
  return is_floating(a.dtype()) ? select(is_nan(a), a, min(a, b)) : min(a, b);
}

}  // namespace groove::kernels
