// Dropout of whole channels and alpha dropout, spelled with others: a mask of whole or one element
// a channel, drawn once.
#include "groove/ops/dropouts.h"

#include <cmath>

#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// Minus the value at which selu saturates.
constexpr double kSaturation = 1.7580993408473766;

enum class Unit { kElement, kChannel };

// 1 where a unit stays, else 0.
Tensor kept(const Tensor& x, double p, Unit unit) {
  Shape sizes = type_of(x).sizes;
  for (std::size_t axis = 2; unit == Unit::kChannel && axis < sizes.size(); ++axis) sizes[axis] = 1;
  return ge(rand(sizes, type_of(x).dtype), p).to(type_of(x).dtype);
}

// Throws where p is none, or there are no channels; is anything to be done?
bool is_dropping(const char* name, const Tensor& x, double p, bool train, Unit unit) {
  GROOVE_CHECK(p >= 0 && p <= 1, "{}: probability {} is not in [0, 1]", name, p);
  const TensorImpl& impl = checked(name, x);
  if (p == 0 || !train || impl.numel == 0) return false;
  GROOVE_CHECK(unit == Unit::kElement || impl.geometry.sizes.size() >= 2,
               "{}: input {} has no channels; it must be [N, C, …]", name,
               to_string(impl.geometry.sizes));
  GROOVE_CHECK_AS(NotImplementedError, is_floating(impl.dtype), "{}: not defined for {} tensors",
                  name, groove::name(impl.dtype));
  return true;
}

Tensor scaled(const Tensor& x, double p, Unit unit) {
  if (p == 1) return x * 0;
  return x * (kept(x, p, unit) / (1 - p));
}

// Dropped units are -kSaturation before the scaling.
Tensor alpha_scaled(const Tensor& x, double p, Unit unit) {
  if (p == 1) return x * 0;
  const double a = 1 / std::sqrt((kSaturation * kSaturation * p + 1) * (1 - p));
  const Tensor mask = kept(x, p, unit);
  return x * (mask * a) + ((mask - 1) * (kSaturation * a) + kSaturation * a * p);
}

}  // namespace

Tensor feature_dropout(Arg input, double p, bool train) {
  const SiteScope scope(input.site);
  const Unit unit = Unit::kChannel;
  if (!is_dropping("feature_dropout", *input.tensor, p, train, unit)) return *input.tensor;
  return scaled(*input.tensor, p, unit);
}
Tensor alpha_dropout(Arg input, double p, bool train) {
  const SiteScope scope(input.site);
  const Unit unit = Unit::kElement;
  if (!is_dropping("alpha_dropout", *input.tensor, p, train, unit)) return *input.tensor;
  return alpha_scaled(*input.tensor, p, unit);
}
Tensor feature_alpha_dropout(Arg input, double p, bool train) {
  const SiteScope scope(input.site);
  const Unit unit = Unit::kChannel;
  if (!is_dropping("feature_alpha_dropout", *input.tensor, p, train, unit)) return *input.tensor;
  return alpha_scaled(*input.tensor, p, unit);
}

namespace {

// self itself where nothing is dropped, so that nothing is written then.
Tensor& placed(const Arg& self, const Tensor& result) {
  Tensor& x = writable(*self.tensor);
  return result.is_same(x) ? x : x.copy_(result, false, self.site);
}

}  // namespace

Tensor& dropout_(Arg self, double p, bool train) {
  const SiteScope scope(self.site);
  return placed(self, dropout(*self.tensor, p, train));
}
Tensor& feature_dropout_(Arg self, double p, bool train) {
  const SiteScope scope(self.site);
  return placed(self, feature_dropout(*self.tensor, p, train));
}
Tensor& alpha_dropout_(Arg self, double p, bool train) {
  const SiteScope scope(self.site);
  return placed(self, alpha_dropout(*self.tensor, p, train));
}
Tensor& feature_alpha_dropout_(Arg self, double p, bool train) {
  const SiteScope scope(self.site);
  return placed(self, feature_alpha_dropout(*self.tensor, p, train));
}

}  // namespace groove
