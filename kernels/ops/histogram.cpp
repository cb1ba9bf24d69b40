// bincount and histc: elements counted where they belong, in ordinary ops.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {

Tensor bincount(Arg self, const std::optional<Tensor>& weights, std::int64_t minlength) {
  const SiteScope scope(self.site);
  const Type type{checked("bincount", *self.tensor).dtype, type_of(*self.tensor).sizes};
  GROOVE_CHECK(!is_floating(type.dtype) && type.dtype != kBool && type.sizes.size() == 1,
               "bincount: self is {} {}; it must be of integers and have one axis",
               name(type.dtype), to_string(type.sizes));
  GROOVE_CHECK(minlength >= 0, "bincount: minlength {} is negative", minlength);
  const bool has_weights = weights && weights->defined();
  GROOVE_CHECK(!has_weights || type_of(*weights).sizes == type.sizes,
               "bincount: {} weights for {} elements", to_string(type_of(*weights).sizes),
               to_string(type.sizes));
  std::int64_t length = minlength;
  if (self.tensor->numel() > 0) {
    GROOVE_CHECK(min(*self.tensor).item<std::int64_t>() >= 0, "bincount: an element is negative");
    length = std::max(length, max(*self.tensor).item<std::int64_t>() + 1);
  }
  Tensor counted = has_weights ? weights->detach() : ones(type.sizes, TensorOptions(kLong));
  if (has_weights && type_of(counted).dtype != kFloat) counted = counted.to(kDouble);
  const Tensor start = zeros({length}, TensorOptions(type_of(counted).dtype));
  return index_add(start, 0, self.tensor->to(kLong), counted);
}

Tensor histc(Arg self, std::int64_t bins, Scalar min, Scalar max) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("histc", *self.tensor).dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "histc: not defined for {} tensors; convert to a floating dtype", name(dtype));
  GROOVE_CHECK(bins > 0, "histc: {} bins; there must be at least one", bins);
  GROOVE_CHECK(min.to_double() <= max.to_double(), "histc: min {} is above max {}", min.to_double(),
               max.to_double());
  const Tensor x = flatten(self.tensor->detach());
  const TensorOptions options(dtype);
  if (x.numel() == 0) return zeros({bins}, options);
  Tensor low = full({}, min, options), high = full({}, max, options);
  if (min.to_double() == max.to_double()) {
    const auto [least, greatest] = aminmax(x);
    const Tensor is_point = eq(least, greatest);
    low = where(is_point, least - 1, least);
    high = where(is_point, greatest + 1, greatest);
  }
  const Tensor is_inside = logical_and(ge(x, low), le(x, high));
  const Tensor place = (x - low) * static_cast<double>(bins) / (high - low);
  const Tensor bin = clamp(where(is_inside, place, 0).to(kLong), 0, bins - 1);
  return index_add(zeros({bins}, options), 0, bin, is_inside.to(dtype));
}

Tensor StatisticsMethods::bincount(Site site) const { return groove::bincount({self(), site}); }
Tensor StatisticsMethods::bincount(const std::optional<Tensor>& weights, std::int64_t minlength,
                                   Site site) const {
  return groove::bincount({self(), site}, weights, minlength);
}
Tensor StatisticsMethods::histc(std::int64_t bins, Scalar min, Scalar max, Site site) const {
  return groove::histc({self(), site}, bins, min, max);
}

}  // namespace groove
