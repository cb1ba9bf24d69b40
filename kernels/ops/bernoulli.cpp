// bernoulli: 1 with a probability, else 0, by comparing one uniform draw with it. A probability
// outside [0, 1] acts as the nearer end; NaN gives 0.
#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor uniform_for(const Type& type, Site site) {
  return rand(type.sizes, type.dtype == kDouble ? kDouble : kFloat, site);
}

}  // namespace

Tensor bernoulli(Arg self) {
  const CallFrame frame(self.site);
  const ScalarType dtype = checked("bernoulli", *self.tensor).dtype;
  GROOVE_CHECK(is_floating(dtype), "bernoulli: probabilities are {}; they must be floating",
               name(dtype));
  const SiteScope scope(self.site);
  const Tensor draws = uniform_for(type_of(*self.tensor), self.site);
  return lt({draws, self.site}, *self.tensor).to(dtype, false, false, self.site);
}
Tensor IndexMethods::bernoulli(Site site) const { return groove::bernoulli({self(), site}); }

Tensor& MathMethods::bernoulli_(double p, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(p >= 0 && p <= 1, "bernoulli_: probability {} is not in [0, 1]", p);
  checked("bernoulli_", self());
  const SiteScope scope(site);
  const Tensor draws = uniform_for(type_of(self()), site);
  return copy_(groove::lt({draws, site}, Scalar(p)), false, site);
}

Tensor bernoulli(Arg self, double p) {
  const CallFrame frame(self.site);
  const Tensor result = empty_like(self);
  return result.bernoulli_(p, self.site);
}
Tensor IndexMethods::bernoulli(double p, Site site) const {
  return groove::bernoulli({self(), site}, p);
}
Tensor& MathMethods::bernoulli_(const Tensor& p, Site site) const {
  const CallFrame frame(site);
  const Tensor chances = checked("bernoulli_", p).dtype == kDouble ? p : p.to(kFloat);
  return self().copy_(groove::bernoulli({chances.expand(self().sizes()), site}), false, site);
}

}  // namespace groove
