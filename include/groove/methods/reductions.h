// Reducing methods of Tensor and products; the method forms of groove/ops/reductions.h and
// groove/ops/contractions.h, where shapes, dtypes and errors are documented.
#pragma once

#include <concepts>
#include <optional>
#include <tuple>

#include "groove/methods/elementwise.h"
#include "groove/optional_array_ref.h"

namespace groove {

class ReductionMethods : public ElementwiseMethods {
 public:
  using ElementwiseMethods::ElementwiseMethods;

  Tensor sum(Site site = Site::current()) const;
  Tensor sum(ScalarType dtype, Site site = Site::current()) const;
  Tensor sum(OptionalIntArrayRef dim, bool keepdim = false,
             std::optional<ScalarType> dtype = std::nullopt, Site site = Site::current()) const;
  Tensor mean(Site site = Site::current()) const;
  Tensor mean(ScalarType dtype, Site site = Site::current()) const;
  Tensor mean(OptionalIntArrayRef dim, bool keepdim = false,
              std::optional<ScalarType> dtype = std::nullopt, Site site = Site::current()) const;
  Tensor max(Site site = Site::current()) const;
  Tensor max(const Tensor& other, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false,
                                 Site site = Site::current()) const;
  Tensor min(Site site = Site::current()) const;
  Tensor min(const Tensor& other, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false,
                                 Site site = Site::current()) const;
  Tensor amax(IntArrayRef dim = {}, bool keepdim = false, Site site = Site::current()) const;
  Tensor amin(IntArrayRef dim = {}, bool keepdim = false, Site site = Site::current()) const;
  Tensor argmax(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false,
                Site site = Site::current()) const;
  Tensor argmin(std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false,
                Site site = Site::current()) const;
  Tensor prod(Site site = Site::current()) const;
  Tensor prod(ScalarType dtype, Site site = Site::current()) const;
  Tensor prod(std::int64_t dim, bool keepdim = false,
              std::optional<ScalarType> dtype = std::nullopt, Site site = Site::current()) const;
  Tensor any(Site site = Site::current()) const;
  Tensor any(std::int64_t dim, bool keepdim = false, Site site = Site::current()) const;
  Tensor any(OptionalIntArrayRef dim, bool keepdim = false, Site site = Site::current()) const;
  Tensor all(Site site = Site::current()) const;
  Tensor all(std::int64_t dim, bool keepdim = false, Site site = Site::current()) const;
  Tensor all(OptionalIntArrayRef dim, bool keepdim = false, Site site = Site::current()) const;
  Tensor var(Site site = Site::current()) const;
  template <std::same_as<bool> Flag>
  Tensor var(Flag unbiased, Site site = Site::current()) const;
  Tensor var(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false,
             Site site = Site::current()) const;
  Tensor var(OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim = false,
             Site site = Site::current()) const;
  Tensor std(Site site = Site::current()) const;
  template <std::same_as<bool> Flag>
  Tensor std(Flag unbiased, Site site = Site::current()) const;
  Tensor std(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false,
             Site site = Site::current()) const;
  Tensor std(OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim = false,
             Site site = Site::current()) const;
  Tensor norm(Scalar p = 2, Site site = Site::current()) const;
  Tensor norm(std::optional<Scalar> p, IntArrayRef dim, bool keepdim = false,
              Site site = Site::current()) const;
  Tensor norm(std::optional<Scalar> p, ScalarType dtype, Site site = Site::current()) const;
  Tensor norm(std::optional<Scalar> p, IntArrayRef dim, bool keepdim, ScalarType dtype,
              Site site = Site::current()) const;
  Tensor cumsum(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                Site site = Site::current()) const;
  Tensor cumprod(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                 Site site = Site::current()) const;
  Tensor logsumexp(IntArrayRef dim, bool keepdim = false, Site site = Site::current()) const;
  Tensor count_nonzero(OptionalIntArrayRef dim = std::nullopt, Site site = Site::current()) const;
  Tensor softmax(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                 Site site = Site::current()) const;
  Tensor log_softmax(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                     Site site = Site::current()) const;

  Tensor matmul(const Tensor& other, Site site = Site::current()) const;
  Tensor mm(const Tensor& other, Site site = Site::current()) const;
  Tensor bmm(const Tensor& other, Site site = Site::current()) const;
  Tensor dot(const Tensor& other, Site site = Site::current()) const;
  Tensor mv(const Tensor& vec, Site site = Site::current()) const;
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1,
               Site site = Site::current()) const;
};

}  // namespace groove
