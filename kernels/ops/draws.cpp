// In-place fills with random numbers of a distribution, by its inverse at one uniform draw each.
#include <cmath>
#include <numbers>

#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

ScalarType floating_dtype(const char* op, const Tensor& self) {
  const ScalarType dtype = checked(op, self).dtype;
  GROOVE_CHECK(is_floating(dtype), "{}: the tensor is {}; it must be floating", op, name(dtype));
  return dtype;
}

// In [0, 1), of a precision in which its logarithm and tangent are those of the dtype.
Tensor uniform_for(const Tensor& self, Site site) {
  const Type type = type_of(self);
  return rand(type.sizes, type.dtype == kHalf || type.dtype == kBFloat16 ? kFloat : kDouble, site);
}

}  // namespace

Tensor& ElementwiseMethods::exponential_(double lambd, Site site) const {
  const SiteScope scope(site);
  floating_dtype("exponential_", self());
  GROOVE_CHECK(lambd > 0, "exponential_: lambd {} must be positive", lambd);
  return copy_(groove::log1p(groove::neg(uniform_for(self(), site))) * (-1 / lambd), false, site);
}
Tensor& ElementwiseMethods::log_normal_(double mean, double std, Site site) const {
  const SiteScope scope(site);
  floating_dtype("log_normal_", self());
  GROOVE_CHECK(std > 0, "log_normal_: std {} must be positive", std);
  return copy_(groove::exp(randn(type_of(self()).sizes, kDouble, site) * std + mean), false, site);
}
Tensor& ElementwiseMethods::cauchy_(double median, double sigma, Site site) const {
  const SiteScope scope(site);
  floating_dtype("cauchy_", self());
  GROOVE_CHECK(sigma > 0, "cauchy_: sigma {} must be positive", sigma);
  const Tensor angle = (uniform_for(self(), site) - 0.5) * std::numbers::pi;
  return copy_(groove::tan(angle) * sigma + median, false, site);
}
Tensor& ElementwiseMethods::geometric_(double p, Site site) const {
  const SiteScope scope(site);
  checked("geometric_", self());
  GROOVE_CHECK(p > 0 && p < 1, "geometric_: probability {} is not in (0, 1)", p);
  const Tensor trials = groove::log1p(groove::neg(uniform_for(self(), site))) / std::log1p(-p);
  return copy_(groove::clamp_min(groove::ceil(trials), 1), false, site);
}

}  // namespace groove
