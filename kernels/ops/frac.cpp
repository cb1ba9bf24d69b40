// frac: what stands behind the point, with the sign of self. Exact.
#include "kernels/ops/rules.h"

namespace groove {

Tensor frac(Arg self) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(is_floating(checked("frac", *self.tensor).dtype),
               "frac: defined for floating-point tensors only, not for {}",
               name(self.tensor->scalar_type()));
  return sub(self, trunc(self));
}
Tensor MathMethods::frac(Site site) const { return groove::frac({self(), site}); }

}  // namespace groove
