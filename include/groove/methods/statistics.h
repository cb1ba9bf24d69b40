// Methods of Tensor for ranks, quantiles, histograms and differences; the method forms of
// groove/ops/statistics.h, where shapes and errors are documented.
#pragma once

#include <string_view>

#include "groove/methods/linear_algebra.h"
#include "groove/optional_array_ref.h"

namespace groove {

class StatisticsMethods : public LinearAlgebraMethods {
 public:
  using LinearAlgebraMethods::LinearAlgebraMethods;

  std::tuple<Tensor, Tensor> cummax(std::int64_t dim, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> cummin(std::int64_t dim, Site site = Site::current()) const;
  Tensor logcumsumexp(std::int64_t dim, Site site = Site::current()) const;
  Tensor median(Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> median(std::int64_t dim, bool keepdim = false,
                                    Site site = Site::current()) const;
  Tensor nanmedian(Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> nanmedian(std::int64_t dim, bool keepdim = false,
                                       Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> kthvalue(std::int64_t k, std::int64_t dim = -1, bool keepdim = false,
                                      Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> mode(std::int64_t dim = -1, bool keepdim = false,
                                  Site site = Site::current()) const;
  Tensor quantile(const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                  bool keepdim = false, std::string_view interpolation = "linear",
                  Site site = Site::current()) const;
  Tensor quantile(double q, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false,
                  std::string_view interpolation = "linear", Site site = Site::current()) const;
  Tensor nanquantile(const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                     bool keepdim = false, std::string_view interpolation = "linear",
                     Site site = Site::current()) const;
  Tensor nanquantile(double q, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false,
                     std::string_view interpolation = "linear", Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> aminmax(std::optional<std::int64_t> dim = std::nullopt,
                                     bool keepdim = false, Site site = Site::current()) const;
  Tensor nansum(OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                std::optional<ScalarType> dtype = std::nullopt, Site site = Site::current()) const;
  Tensor nanmean(OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                 std::optional<ScalarType> dtype = std::nullopt, Site site = Site::current()) const;
  Tensor cov(std::int64_t correction = 1, Site site = Site::current()) const;
  Tensor cov(std::int64_t correction, const std::optional<Tensor>& fweights,
             Site site = Site::current()) const;
  Tensor cov(std::int64_t correction, const std::optional<Tensor>& fweights,
             const std::optional<Tensor>& aweights, Site site = Site::current()) const;
  Tensor corrcoef(Site site = Site::current()) const;
  Tensor bincount(Site site = Site::current()) const;
  Tensor bincount(const std::optional<Tensor>& weights, std::int64_t minlength = 0,
                  Site site = Site::current()) const;
  Tensor histc(std::int64_t bins = 100, Scalar min = 0, Scalar max = 0,
               Site site = Site::current()) const;
  Tensor diff(std::int64_t n = 1, std::int64_t dim = -1, Site site = Site::current()) const;
  Tensor diff(std::int64_t n, std::int64_t dim, const std::optional<Tensor>& prepend,
              Site site = Site::current()) const;
  Tensor diff(std::int64_t n, std::int64_t dim, const std::optional<Tensor>& prepend,
              const std::optional<Tensor>& append, Site site = Site::current()) const;
};

}  // namespace groove
