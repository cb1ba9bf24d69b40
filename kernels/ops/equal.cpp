// equal and allclose: comparisons of whole tensors, answered on the host.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"

namespace groove {

bool equal(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  const TensorImpl &a = checked("equal", *self.tensor), &b = checked("equal", other);
  if (!(a.geometry.sizes == b.geometry.sizes)) return false;
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
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

bool MathMethods::equal(const Tensor& other, Site site) const {
  return groove::equal({self(), site}, other);
}
bool MathMethods::allclose(const Tensor& other, double rtol, double atol, bool equal_nan,
                           Site site) const {
  return groove::allclose({self(), site}, other, rtol, atol, equal_nan);
}

}  // namespace groove
