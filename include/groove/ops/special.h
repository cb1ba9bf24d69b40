// torch::special: functions of mathematics, of which many have a name of their own besides; and the
// same as special_….
#pragma once

#include "groove/ops/elementwise.h"
#include "groove/ops/reductions.h"

namespace groove {

/// -self * log(self); 0 at 0, -infinity below.
Tensor special_entr(Arg self);
/// The normal distribution at self, and its logarithm without underflow.
Tensor special_ndtr(Arg self);
Tensor special_log_ndtr(Arg self);
/// self * log(1 + other); 0 where self is 0 and other is not NaN.
Tensor special_xlog1py(Arg self, const Tensor& other);
Tensor special_xlog1py(Arg self, Scalar other);
Tensor special_xlog1py(Scalar self, Arg other);
/// The modified Bessel functions of the first kind of order 0 and 1; i0e and i1e are
/// exp(-|self|) times them.
Tensor special_i0e(Arg self);
Tensor special_i1(Arg self);
Tensor special_i1e(Arg self);
Tensor i0(Arg self);
/// log of the multivariate gamma function of dimension p; self must exceed (p - 1) / 2.
Tensor mvlgamma(Arg self, std::int64_t p);

inline Tensor special_expit(Arg self) { return sigmoid(self); }
inline Tensor special_erf(Arg self) { return erf(self); }
inline Tensor special_erfc(Arg self) { return erfc(self); }
inline Tensor special_erfinv(Arg self) { return erfinv(self); }
inline Tensor special_exp2(Arg self) { return exp2(self); }
inline Tensor special_expm1(Arg self) { return expm1(self); }
inline Tensor special_log1p(Arg self) { return log1p(self); }
inline Tensor special_gammaln(Arg self) { return lgamma(self); }
inline Tensor special_digamma(Arg self) { return digamma(self); }
inline Tensor special_psi(Arg self) { return digamma(self); }
inline Tensor special_sinc(Arg self) { return sinc(self); }
inline Tensor special_i0(Arg self) { return i0(self); }
inline Tensor special_multigammaln(Arg self, std::int64_t p) { return mvlgamma(self, p); }
inline Tensor special_polygamma(std::int64_t n, Arg self) { return polygamma(n, self); }
inline Tensor special_round(Arg self, std::int64_t decimals = 0) { return round(self, decimals); }
inline Tensor special_logit(Arg self, std::optional<double> eps = std::nullopt) {
  return logit(self, eps);
}
inline Tensor special_xlogy(Arg self, const Tensor& other) { return xlogy(self, other); }
inline Tensor special_xlogy(Arg self, Scalar other) { return xlogy(self, other); }
inline Tensor special_xlogy(Scalar self, Arg other) { return xlogy(self, other); }
inline Tensor special_logsumexp(Arg self, IntArrayRef dim, bool keepdim = false) {
  return logsumexp(self, dim, keepdim);
}
inline Tensor special_softmax(Arg self, std::int64_t dim,
                              std::optional<ScalarType> dtype = std::nullopt) {
  return softmax(self, dim, dtype);
}
inline Tensor special_log_softmax(Arg self, std::int64_t dim,
                                  std::optional<ScalarType> dtype = std::nullopt) {
  return log_softmax(self, dim, dtype);
}

namespace special {

inline Tensor expit(Arg self) { return special_expit(self); }
inline Tensor erf(Arg self) { return special_erf(self); }
inline Tensor erfc(Arg self) { return special_erfc(self); }
inline Tensor erfinv(Arg self) { return special_erfinv(self); }
inline Tensor exp2(Arg self) { return special_exp2(self); }
inline Tensor expm1(Arg self) { return special_expm1(self); }
inline Tensor log1p(Arg self) { return special_log1p(self); }
inline Tensor gammaln(Arg self) { return special_gammaln(self); }
inline Tensor digamma(Arg self) { return special_digamma(self); }
inline Tensor psi(Arg self) { return special_psi(self); }
inline Tensor sinc(Arg self) { return special_sinc(self); }
inline Tensor entr(Arg self) { return special_entr(self); }
inline Tensor ndtr(Arg self) { return special_ndtr(self); }
inline Tensor log_ndtr(Arg self) { return special_log_ndtr(self); }
inline Tensor i0(Arg self) { return special_i0(self); }
inline Tensor i0e(Arg self) { return special_i0e(self); }
inline Tensor i1(Arg self) { return special_i1(self); }
inline Tensor i1e(Arg self) { return special_i1e(self); }
inline Tensor logit(Arg self) { return special_logit(self); }
inline Tensor round(Arg self) { return special_round(self); }
inline Tensor polygamma(std::int64_t n, Arg self) { return special_polygamma(n, self); }
inline Tensor multigammaln(Arg self, std::int64_t p) { return special_multigammaln(self, p); }
inline Tensor xlogy(Arg self, const Tensor& other) { return special_xlogy(self, other); }
inline Tensor xlogy(Arg self, Scalar other) { return special_xlogy(self, other); }
inline Tensor xlogy(Scalar self, Arg other) { return special_xlogy(self, other); }
inline Tensor xlog1py(Arg self, const Tensor& other) { return special_xlog1py(self, other); }
inline Tensor xlog1py(Arg self, Scalar other) { return special_xlog1py(self, other); }
inline Tensor xlog1py(Scalar self, Arg other) { return special_xlog1py(self, other); }
inline Tensor logsumexp(Arg self, IntArrayRef dims, bool keepdim = false) {
  return special_logsumexp(self, dims, keepdim);
}
inline Tensor softmax(Arg self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return special_softmax(self, dim, dtype);
}
inline Tensor log_softmax(Arg self, std::int64_t dim,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return special_log_softmax(self, dim, dtype);
}

}  // namespace special
}  // namespace groove
