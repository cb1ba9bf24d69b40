// equal and allclose: comparisons of whole tensors, answered on the host.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {

bool equal(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  const TensorImpl &a = checked("equal", *self.tensor), &b = checked("equal", other);
  if (a.dtype != b.dtype || !(a.geometry.sizes == b.geometry.sizes)) return false;
  const SiteScope scope(self.site);
  return all(eq(*self.tensor, other)).item<bool>();
}

bool allclose(Arg self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const CallFrame frame(self.site);
  const TensorImpl &a = checked("allclose", *self.tensor), &b = checked("allclose", other);
  GROOVE_CHECK(a.dtype == b.dtype, "allclose: dtypes {} and {} differ; convert with to()",
               name(a.dtype), name(b.dtype));
  GROOVE_CHECK(rtol >= 0 && atol >= 0, "allclose: rtol {} and atol {} must not be negative", rtol,
               atol);
  const SiteScope scope(self.site);
  const Tensor &x = *self.tensor, &y = other;
  Tensor is_close = eq(x, y);  // infinities too
  if (is_floating(a.dtype)) {
    const Tensor distance = abs(x - y);
    const Tensor is_near = le(distance, abs(y) * rtol + atol);
    is_close = logical_or(is_close, logical_and(isfinite(distance), is_near));
    if (equal_nan) is_close = logical_or(is_close, logical_and(isnan(x), isnan(y)));
  } else if (a.dtype != kBool) {
    const Tensor wide = x.to(kDouble), other_wide = y.to(kDouble);
    is_close = logical_or(is_close, le(abs(wide - other_wide), abs(other_wide) * rtol + atol));
  }
  return all(is_close).item<bool>();
}

bool MathMethods::equal(const Tensor& other, Site site) const {
  return groove::equal({self(), site}, other);
}
bool MathMethods::allclose(const Tensor& other, double rtol, double atol, bool equal_nan,
                           Site site) const {
  return groove::allclose({self(), site}, other, rtol, atol, equal_nan);
}

}  // namespace groove
