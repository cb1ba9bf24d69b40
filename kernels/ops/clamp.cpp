// clamp: both bounds, one after the other; so the upper one wins where they cross, as in LibTorch.
#include "kernels/ops/rules.h"

namespace groove {

Tensor clamp(Arg self, std::optional<Scalar> min, std::optional<Scalar> max) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(min || max, "clamp: neither min nor max is given");
  if (!min) return clamp_max(self, *max);
  const Tensor raised = clamp_min(self, *min);
  return max ? clamp_max({raised, self.site}, *max) : raised;
}
Tensor MathMethods::clamp(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  return groove::clamp({self(), site}, min, max);
}
Tensor& MathMethods::clamp_(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(min || max, "clamp_: neither min nor max is given");
  if (min) clamp_min_(*min, site);
  if (max) clamp_max_(*max, site);
  return writable(self());
}

}  // namespace groove
