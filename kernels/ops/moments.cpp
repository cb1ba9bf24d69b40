// nansum, nanmean, std_mean, var_mean, cov and corrcoef, in ordinary ops.
#include <cmath>

#include "groove/ops/complex.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/deviation.h"
#include "src/core/complex.h"

namespace groove {
namespace {

IntArrayRef or_all(const OptionalIntArrayRef& dim) { return dim.value_or(IntArrayRef()); }

std::int64_t whole(const char* op, const std::optional<Scalar>& correction) {
  if (!correction) return 1;
  const double value = correction->to_double();
  GROOVE_CHECK(value == std::floor(value), "{}: correction {} is not a whole number", op, value);
  return static_cast<std::int64_t>(value);
}

Tensor without_nan(const Tensor& x) {
  return is_floating(type_of(x).dtype) ? masked_fill(x, isnan(x), 0) : x;
}

// A weight for each observation, or undefined.
Tensor checked_weights(const std::optional<Tensor>& weights, const char* what,
                       std::int64_t observations, bool is_whole) {
  if (!weights || !weights->defined()) return Tensor();
  const Type type = type_of(*weights);
  GROOVE_CHECK(type.sizes == Shape{observations} && is_floating(type.dtype) != is_whole,
               "cov: {} are {} {}; they must be {} and [{}]", what, name(type.dtype),
               to_string(type.sizes), is_whole ? "integers" : "floating", observations);
  return *weights;
}

Tensor covariance(const Tensor& self, std::int64_t correction,
                  const std::optional<Tensor>& fweights, const std::optional<Tensor>& aweights) {
  const Type type{checked("cov", self).dtype, type_of(self).sizes};
  GROOVE_CHECK(type.sizes.size() <= 2 && type.dtype != kBool,
               "cov: self is {} {}; it must be numeric and have two axes at most", name(type.dtype),
               to_string(type.sizes));
  const Tensor rows = type.sizes.size() == 2 ? self : reshape(self, {1, -1});
  const std::int64_t observations = rows.size(1);
  const Tensor frequency = checked_weights(fweights, "fweights", observations, true);
  const Tensor importance = checked_weights(aweights, "aweights", observations, false);
  Tensor weights = frequency;
  if (importance.defined()) weights = frequency.defined() ? mul(importance, frequency) : importance;
  const Tensor total =
      weights.defined() ? sum(weights) : full({}, observations, TensorOptions(kLong));
  const Tensor mean = weights.defined() ? sum(mul(rows, weights), 1) / total : sum(rows, 1) / total;
  Tensor norm = total - correction;
  if (weights.defined() && importance.defined() && correction != 0)
    norm = total - sum(mul(weights, importance)) * correction / total;
  const Tensor centered = sub(rows, unsqueeze(mean, 1));
  const Tensor weighted = weights.defined() ? mul(centered, weights) : centered;
  const Tensor columns = transpose(is_complex_tensor(weighted) ? conj(weighted) : weighted, 0, 1);
  const Tensor result =
      matmul(centered, columns) / clamp_min(norm.to(real_dtype(type_of(centered).dtype)), 0);
  return squeeze(result);
}

}  // namespace

Tensor nansum(Arg self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  checked("nansum", *self.tensor);
  return sum(without_nan(*self.tensor), or_all(dim), keepdim, dtype);
}
Tensor nanmean(Arg self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const SiteScope scope(self.site);
  GROOVE_CHECK_AS(NotImplementedError, is_floating(checked("nanmean", *self.tensor).dtype),
                  "nanmean: not defined for {} tensors; convert to a floating dtype",
                  name(self.tensor->scalar_type()));
  const Tensor count = sum(logical_not(isnan(self.tensor->detach())), or_all(dim), keepdim);
  return nansum(*self.tensor, dim, keepdim, dtype) / count;
}

std::tuple<Tensor, Tensor> std_mean(Arg self, OptionalIntArrayRef dim, bool unbiased,
                                    bool keepdim) {
  const SiteScope scope(self.site);
  return {deviation(self, or_all(dim), unbiased, keepdim), mean(self, or_all(dim), keepdim)};
}
std::tuple<Tensor, Tensor> std_mean(Arg self, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  const SiteScope scope(self.site);
  return {deviation(self, or_all(dim), whole("std_mean", correction), keepdim),
          mean(self, or_all(dim), keepdim)};
}
std::tuple<Tensor, Tensor> var_mean(Arg self, OptionalIntArrayRef dim, bool unbiased,
                                    bool keepdim) {
  const SiteScope scope(self.site);
  return {variance(self, or_all(dim), unbiased, keepdim), mean(self, or_all(dim), keepdim)};
}
std::tuple<Tensor, Tensor> var_mean(Arg self, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  const SiteScope scope(self.site);
  return {variance(self, or_all(dim), whole("var_mean", correction), keepdim),
          mean(self, or_all(dim), keepdim)};
}

Tensor cov(Arg self, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  const SiteScope scope(self.site);
  return covariance(*self.tensor, correction, fweights, aweights);
}
Tensor corrcoef(Arg self) {
  const SiteScope scope(self.site);
  const Tensor c = covariance(*self.tensor, 1, {}, {});
  if (c.dim() == 0) return c / c;
  const Tensor spread = sqrt(diagonal(c));
  return clamp(c / unsqueeze(spread, 1) / unsqueeze(spread, 0), -1, 1);
}

Tensor StatisticsMethods::nansum(OptionalIntArrayRef dim, bool keepdim,
                                 std::optional<ScalarType> dtype, Site site) const {
  return groove::nansum({self(), site}, dim, keepdim, dtype);
}
Tensor StatisticsMethods::nanmean(OptionalIntArrayRef dim, bool keepdim,
                                  std::optional<ScalarType> dtype, Site site) const {
  return groove::nanmean({self(), site}, dim, keepdim, dtype);
}
Tensor StatisticsMethods::cov(std::int64_t correction, Site site) const {
  return groove::cov({self(), site}, correction);
}
Tensor StatisticsMethods::cov(std::int64_t correction, const std::optional<Tensor>& fweights,
                              Site site) const {
  return groove::cov({self(), site}, correction, fweights);
}
Tensor StatisticsMethods::cov(std::int64_t correction, const std::optional<Tensor>& fweights,
                              const std::optional<Tensor>& aweights, Site site) const {
  return groove::cov({self(), site}, correction, fweights, aweights);
}
Tensor StatisticsMethods::corrcoef(Site site) const { return groove::corrcoef({self(), site}); }

}  // namespace groove
