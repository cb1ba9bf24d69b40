// Functions of torch::special that are spelled with others.
#include <cmath>
#include <numbers>

#include "groove/ops/special.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

// log of the integral of exp(-t^2 / 2) / sqrt(2 pi) below x, for x <= -20: the asymptotic series
// of the tail (Abramowitz and Stegun 26.2.12), of which six terms leave less than 1e-14.
Tensor log_tail(const Tensor& x) {
  const Tensor z = reciprocal(square(x));
  Tensor series = ones_like(z);
  for (const double factor : {11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) series = 1 - series * z * factor;
  constexpr double kHalfLogOfTwoPi = 0.91893853320467274178;
  return log(series) - square(x) * 0.5 - log(-x) - kHalfLogOfTwoPi;
}

}  // namespace

Tensor special_ndtr(Arg self) {
  const SiteScope scope(self.site);
  checked("special_ndtr", *self.tensor);
  return erfc(mul(self, -1 / std::numbers::sqrt2)) * 0.5;
}

Tensor special_log_ndtr(Arg self) {
  const SiteScope scope(self.site);
  const bool is_real = is_floating(checked("special_log_ndtr", *self.tensor).dtype);
  const Tensor x =
      is_real ? *self.tensor : self.tensor->to(get_default_dtype(), false, false, self.site);
  const Tensor is_far = lt(x, -20), is_low = lt(x, -1);
  // Each form sees only numbers that it is made for, so that no other has a gradient of NaN.
  const auto raised = [](const Tensor& at, double to) { return masked_fill(at, lt(at, to), to); };
  const auto lowered = [](const Tensor& at, double to) { return masked_fill(at, gt(at, to), to); };
  const Tensor far = log_tail(lowered(x, -20));
  const Tensor low = log(special_ndtr(lowered(raised(x, -20), -1)));
  const Tensor high = log1p(erfc(raised(x, -1) * (1 / std::numbers::sqrt2)) * -0.5);
  return where(is_far, far, where(is_low, low, high));
}

Tensor mvlgamma(Arg self, std::int64_t p) {
  const SiteScope scope(self.site);
  checked("mvlgamma", *self.tensor);
  GROOVE_CHECK(p >= 1, "mvlgamma: dimension {} must be at least 1", p);
  const double dimension = static_cast<double>(p);
  const Tensor steps = arange(Scalar(p), kLong) * -0.5;
  const Tensor terms = lgamma(self.tensor->unsqueeze(-1) + steps.to(result_type(self, 1.0)));
  return sum(terms, -1) + dimension * (dimension - 1) / 4 * std::log(std::numbers::pi);
}

Tensor ElementwiseMethods::i0(Site site) const { return groove::i0({self(), site}); }
Tensor& ElementwiseMethods::i0_(Site site) const {
  const SiteScope scope(site);
  return write_back("i0_", self(), groove::i0({self(), site}), site);
}
Tensor ElementwiseMethods::mvlgamma(std::int64_t p, Site site) const {
  return groove::mvlgamma({self(), site}, p);
}
Tensor& ElementwiseMethods::mvlgamma_(std::int64_t p, Site site) const {
  const SiteScope scope(site);
  return write_back("mvlgamma_", self(), groove::mvlgamma({self(), site}, p), site);
}

}  // namespace groove
