// round: the nearest integer, of two the even one.
#include <cmath>

#include "kernels/ops/rounding.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

const Op& op =
    define_rounding<kernels::round_even>("round", [](double x) { return std::nearbyint(x); });

}  // namespace

Tensor round(Arg self) { return call(op, self); }
Tensor MathMethods::round(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::round_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}
// What rounds to the left of the point is divided, so that powers of 10 stay exact.
Tensor round(Arg self, std::int64_t decimals) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("round", *self.tensor).dtype;
  if (!is_floating(dtype)) {
    GROOVE_CHECK(decimals == 0, "round: {} tensors have no decimals", name(dtype));
    return clone(self);
  }
  if (decimals == 0) return round(self);
  const double scale = std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals));
  return decimals > 0 ? div(round(mul(self, scale)), scale) : mul(round(div(self, scale)), scale);
}
Tensor MathMethods::round(std::int64_t decimals, Site site) const {
  return groove::round({self(), site}, decimals);
}
Tensor& MathMethods::round_(std::int64_t decimals, Site site) const {
  const SiteScope scope(site);
  return copy_(groove::round({self(), site}, decimals), false, site);
}

}  // namespace groove
