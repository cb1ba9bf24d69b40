// clamp: both bounds, one after the other; so the upper one wins where they cross, as in LibTorch.
#include "kernels/ops/spelled.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

// The gradient goes to what the element is; where that is two of them, half to each: unless the
// bounds themselves are equal, and x has it. Where they cross it is the upper one's.
Tensor between(const Tensor& x, const Tensor& min, const Tensor& max) {
  const Tensor are_apart = lt(min, max);
  const Tensor raised = where(lt(x, min), min, x);
  const Tensor is_above = logical_or(gt(x, max), lt(max, min));
  Tensor result = where(logical_and(is_above, logical_not(isnan(x))), max, raised);
  result = where(logical_and(are_apart, eq(x, min)), maximum(x, min), result);
  result = where(logical_and(are_apart, eq(x, max)), minimum(x, max), result);
  result = where(isnan(min), min, result);
  return where(isnan(max), max, result);
}

}  // namespace

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
Tensor clamp(Arg self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  const SiteScope scope(self.site);
  const bool has_min = min && min->defined(), has_max = max && max->defined();
  checked("clamp", *self.tensor);
  GROOVE_CHECK(has_min || has_max, "clamp: neither min nor max is given");
  if (!has_max) return maximum(self, *min);
  if (!has_min) return minimum(self, *max);
  const Type types[] = {type_of(*self.tensor), type_of(*min), type_of(*max)};
  const ScalarType dtype = result_type(ArrayRef<Type>(types));
  return between(self.tensor->to(dtype), min->to(dtype), max->to(dtype));
}
Tensor MathMethods::clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                          Site site) const {
  return groove::clamp({self(), site}, min, max);
}
Tensor& MathMethods::clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                            Site site) const {
  const SiteScope scope(site);
  return write_back("clamp_", self(), groove::clamp({self(), site}, min, max), site);
}

Tensor MathMethods::clamp(const Tensor& min, Site site) const {
  return groove::clamp({self(), site}, std::optional<Tensor>(min), std::nullopt);
}
Tensor& MathMethods::clamp_(const Tensor& min, Site site) const {
  return clamp_(std::optional<Tensor>(min), std::nullopt, site);
}

Tensor clamp_min(Arg self, const Tensor& min) {
  const CallFrame frame(self.site);
  return clamp(self, min, std::nullopt);
}
Tensor clamp_max(Arg self, const Tensor& max) {
  const CallFrame frame(self.site);
  return clamp(self, std::optional<Tensor>(), max);
}
Tensor MathMethods::clamp_min(const Tensor& min, Site site) const {
  return groove::clamp_min({self(), site}, min);
}
Tensor& MathMethods::clamp_min_(const Tensor& min, Site site) const {
  const CallFrame frame(site);
  return clamp_(std::optional<Tensor>(min), std::optional<Tensor>(), site);
}
Tensor MathMethods::clamp_max(const Tensor& max, Site site) const {
  return groove::clamp_max({self(), site}, max);
}
Tensor& MathMethods::clamp_max_(const Tensor& max, Site site) const {
  const CallFrame frame(site);
  return clamp_(std::optional<Tensor>(), std::optional<Tensor>(max), site);
}

}  // namespace groove
