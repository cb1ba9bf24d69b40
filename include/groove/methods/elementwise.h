// Methods of Tensor for the functions of groove/ops/elementwise.h, where dtypes and errors are
// documented, and random fills by inversion of a uniform draw.
#pragma once

#include "groove/methods/in_place.h"

namespace groove {

class ElementwiseMethods : public InPlaceMethods {
 public:
  using InPlaceMethods::InPlaceMethods;

  Tensor acosh(Site site = Site::current()) const;
  Tensor& acosh_(Site site = Site::current()) const;
  Tensor asinh(Site site = Site::current()) const;
  Tensor& asinh_(Site site = Site::current()) const;
  Tensor atanh(Site site = Site::current()) const;
  Tensor& atanh_(Site site = Site::current()) const;
  Tensor arccosh(Site site = Site::current()) const;
  Tensor& arccosh_(Site site = Site::current()) const;
  Tensor arcsinh(Site site = Site::current()) const;
  Tensor& arcsinh_(Site site = Site::current()) const;
  Tensor arctanh(Site site = Site::current()) const;
  Tensor& arctanh_(Site site = Site::current()) const;
  Tensor sgn(Site site = Site::current()) const;
  Tensor& sgn_(Site site = Site::current()) const;
  Tensor sinc(Site site = Site::current()) const;
  Tensor& sinc_(Site site = Site::current()) const;
  Tensor deg2rad(Site site = Site::current()) const;
  Tensor& deg2rad_(Site site = Site::current()) const;
  Tensor rad2deg(Site site = Site::current()) const;
  Tensor& rad2deg_(Site site = Site::current()) const;
  Tensor isposinf(Site site = Site::current()) const;
  Tensor isneginf(Site site = Site::current()) const;
  Tensor isreal(Site site = Site::current()) const;
  Tensor signbit(Site site = Site::current()) const;
  Tensor logit(std::optional<double> eps = std::nullopt, Site site = Site::current()) const;
  Tensor& logit_(std::optional<double> eps = std::nullopt, Site site = Site::current()) const;
  Tensor nan_to_num(std::optional<double> nan = std::nullopt,
                    std::optional<double> posinf = std::nullopt,
                    std::optional<double> neginf = std::nullopt, Site site = Site::current()) const;
  Tensor& nan_to_num_(std::optional<double> nan = std::nullopt,
                      std::optional<double> posinf = std::nullopt,
                      std::optional<double> neginf = std::nullopt,
                      Site site = Site::current()) const;
  Tensor logaddexp(const Tensor& other, Site site = Site::current()) const;
  Tensor logaddexp2(const Tensor& other, Site site = Site::current()) const;
  Tensor fmin(const Tensor& other, Site site = Site::current()) const;
  Tensor fmax(const Tensor& other, Site site = Site::current()) const;
  Tensor hypot(const Tensor& other, Site site = Site::current()) const;
  Tensor& hypot_(const Tensor& other, Site site = Site::current()) const;
  Tensor nextafter(const Tensor& other, Site site = Site::current()) const;
  Tensor& nextafter_(const Tensor& other, Site site = Site::current()) const;
  Tensor gcd(const Tensor& other, Site site = Site::current()) const;
  Tensor& gcd_(const Tensor& other, Site site = Site::current()) const;
  Tensor lcm(const Tensor& other, Site site = Site::current()) const;
  Tensor& lcm_(const Tensor& other, Site site = Site::current()) const;
  Tensor ldexp(const Tensor& other, Site site = Site::current()) const;
  Tensor& ldexp_(const Tensor& other, Site site = Site::current()) const;
  Tensor heaviside(const Tensor& values, Site site = Site::current()) const;
  Tensor& heaviside_(const Tensor& values, Site site = Site::current()) const;
  Tensor xlogy(const Tensor& other, Site site = Site::current()) const;
  Tensor& xlogy_(const Tensor& other, Site site = Site::current()) const;
  Tensor xlogy(Scalar other, Site site = Site::current()) const;
  Tensor& xlogy_(Scalar other, Site site = Site::current()) const;
  Tensor copysign(const Tensor& other, Site site = Site::current()) const;
  Tensor& copysign_(const Tensor& other, Site site = Site::current()) const;
  Tensor copysign(Scalar other, Site site = Site::current()) const;
  Tensor& copysign_(Scalar other, Site site = Site::current()) const;
  Tensor float_power(const Tensor& exponent, Site site = Site::current()) const;
  Tensor& float_power_(const Tensor& exponent, Site site = Site::current()) const;
  Tensor float_power(Scalar exponent, Site site = Site::current()) const;
  Tensor& float_power_(Scalar exponent, Site site = Site::current()) const;
  Tensor bitwise_left_shift(const Tensor& other, Site site = Site::current()) const;
  Tensor& bitwise_left_shift_(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_left_shift(Scalar other, Site site = Site::current()) const;
  Tensor& bitwise_left_shift_(Scalar other, Site site = Site::current()) const;
  Tensor bitwise_right_shift(const Tensor& other, Site site = Site::current()) const;
  Tensor& bitwise_right_shift_(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_right_shift(Scalar other, Site site = Site::current()) const;
  Tensor& bitwise_right_shift_(Scalar other, Site site = Site::current()) const;
  // groove/ops/special.h
  Tensor i0(Site site = Site::current()) const;
  Tensor& i0_(Site site = Site::current()) const;
  Tensor mvlgamma(std::int64_t p, Site site = Site::current()) const;
  Tensor& mvlgamma_(std::int64_t p, Site site = Site::current()) const;
  Tensor igamma(const Tensor& other, Site site = Site::current()) const;
  Tensor& igamma_(const Tensor& other, Site site = Site::current()) const;
  Tensor igammac(const Tensor& other, Site site = Site::current()) const;
  Tensor& igammac_(const Tensor& other, Site site = Site::current()) const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false, Site site = Site::current()) const;

  /// Densities lambd * exp(-lambd * x), of exp of a normal number, and
  /// 1 / (pi * sigma * (1 + ((x - median) / sigma)^2)); the number of trials to the first success.
  Tensor& exponential_(double lambd, const std::optional<Generator>& generator,
                       Site site = Site::current()) const;
  Tensor& log_normal_(double mean, double std, const std::optional<Generator>& generator,
                      Site site = Site::current()) const;
  Tensor& cauchy_(double median, double sigma, const std::optional<Generator>& generator,
                  Site site = Site::current()) const;
  Tensor& geometric_(double p, const std::optional<Generator>& generator,
                     Site site = Site::current()) const;
  Tensor& exponential_(double lambd = 1, Site site = Site::current()) const;
  Tensor& log_normal_(double mean = 1, double std = 2, Site site = Site::current()) const;
  Tensor& cauchy_(double median = 0, double sigma = 1, Site site = Site::current()) const;
  Tensor& geometric_(double p, Site site = Site::current()) const;
};

}  // namespace groove
