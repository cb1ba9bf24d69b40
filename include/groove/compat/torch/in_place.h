// In-place methods as functions, and results into a tensor that is there, which takes their shape.
#pragma once

#include "groove/compat/torch/more_names.h"

// ---- lists of names: every one is a function of Groove, or a method ----
#define GROOVE_IN_PLACE_NAMES(X)                                                                   \
  X(absolute_)                                                                                     \
  X(acos_) X(acosh_) X(arccos_) X(arccosh_) X(arcsin_) X(arcsinh_) X(arctan_) X(arctanh_) X(asin_) \
      X(asinh_) X(atan_) X(atanh_) X(bitwise_not_) X(ceil_) X(cos_) X(cosh_) X(deg2rad_)           \
          X(digamma_) X(erf_) X(erfc_) X(erfinv_) X(exp2_) X(expm1_) X(fix_) X(floor_) X(frac_)    \
              X(lgamma_) X(log10_) X(log1p_) X(log2_) X(logical_not_) X(negative_) X(rad2deg_)     \
                  X(reciprocal_) X(round_) X(rsqrt_) X(sgn_) X(sign_) X(sin_) X(sinc_) X(sinh_)    \
                      X(square_) X(squeeze_) X(t_) X(tan_) X(trunc_) X(detach_)
#define GROOVE_UNARY_NAMES(X)                                                                      \
  X(sum)                                                                                           \
  X(mean) X(prod) X(any) X(all) X(neg) X(abs) X(exp) X(log) X(sqrt) X(rsqrt) X(reciprocal) X(tanh) \
      X(sigmoid) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(asinh) X(acosh)    \
          X(atanh) X(exp2) X(log2) X(log10) X(square) X(log1p) X(expm1) X(erf) X(erfc) X(erfinv)   \
              X(lgamma) X(digamma) X(silu) X(floor) X(ceil) X(round) X(trunc) X(sign) X(sgn)       \
                  X(frac) X(logical_not) X(bitwise_not) X(relu) X(isposinf) X(isneginf) X(signbit) \
                      X(inverse) X(nonzero) X(hardsigmoid) X(hardswish) X(mish) X(log_sigmoid)     \
                          X(sinc) X(deg2rad) X(rad2deg) X(i0) X(msort) X(conj_physical) X(angle)
#define GROOVE_BINARY_NAMES(X)                                                                    \
  X(logaddexp)                                                                                    \
  X(logaddexp2) X(hypot) X(xlogy) X(ldexp) X(copysign) X(nextafter) X(fmin) X(fmax) X(gcd) X(lcm) \
      X(bmm) X(dot) X(mv) X(outer) X(inner) X(kron) X(floor_divide) X(minimum) X(maximum) X(max)  \
          X(min) X(atan2) X(remainder) X(fmod) X(logical_and) X(logical_or) X(logical_xor)        \
              X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)     \
                  X(pow)
#define GROOVE_NUMBER_NAMES(X)                                                                   \
  X(eq)                                                                                          \
  X(ne) X(lt) X(le) X(gt) X(ge) X(remainder) X(fmod) X(bitwise_and) X(bitwise_or) X(bitwise_xor) \
      X(clamp_min) X(clamp_max) X(pow) X(xlogy)

namespace at {

#define GROOVE_IN_PLACE(name) \
  inline Tensor& name(groove::Arg self) { return self.tensor->name(self.site); }
GROOVE_IN_PLACE_NAMES(GROOVE_IN_PLACE)
#undef GROOVE_IN_PLACE
inline Tensor& clamp_(groove::Arg self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max = {}) {
  return self.tensor->clamp_(min, max, self.site);
}
inline Tensor& clamp_min_(groove::Arg self, Scalar min) {
  return self.tensor->clamp_min_(min, self.site);
}
inline Tensor& clamp_max_(groove::Arg self, Scalar max) {
  return self.tensor->clamp_max_(max, self.site);
}
inline Tensor& fill_(groove::Arg self, const Tensor& value) {
  return self.tensor->fill_(value, self.site);
}

#define GROOVE_OUT(name)                                     \
  inline Tensor& name##_out(Tensor& out, groove::Arg self) { \
    return detail::into(out, groove::name(self), self.site); \
  }
GROOVE_UNARY_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                          \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, const Tensor& other) { \
    return detail::into(out, groove::name(self, other), self.site);               \
  }
GROOVE_BINARY_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                   \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, Scalar other) { \
    return detail::into(out, groove::name(self, other), self.site);        \
  }
GROOVE_NUMBER_NAMES(GROOVE_OUT)
#undef GROOVE_OUT

// Reductions over axes.
#define GROOVE_OUT(name)                                                            \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, OptionalIntArrayRef dim, \
                            bool keepdim = false,                                   \
                            std::optional<ScalarType> dtype = std::nullopt) {       \
    return detail::into(out, groove::name(self, dim, keepdim, dtype), self.site);   \
  }
GROOVE_OUT(sum)
GROOVE_OUT(mean)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                    \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, IntArrayRef dim, \
                            bool keepdim = false) {                         \
    return detail::into(out, groove::name(self, dim, keepdim), self.site);  \
  }
GROOVE_OUT(amax)
GROOVE_OUT(amin)
GROOVE_OUT(logsumexp)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                    \
  inline Tensor& name##_out(Tensor& out, groove::Arg self,                  \
                            std::optional<std::int64_t> dim = std::nullopt, \
                            bool keepdim = false) {                         \
    return detail::into(out, groove::name(self, dim, keepdim), self.site);  \
  }
GROOVE_OUT(argmax)
GROOVE_OUT(argmin)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                      \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, std::int64_t dim,  \
                            std::optional<ScalarType> dtype = std::nullopt) { \
    return detail::into(out, groove::name(self, dim, dtype), self.site);      \
  }
GROOVE_OUT(cumsum)
GROOVE_OUT(cumprod)
GROOVE_OUT(softmax)
GROOVE_OUT(log_softmax)
#undef GROOVE_OUT
// Two results.
#define GROOVE_OUT(name)                                                                           \
  inline std::tuple<Tensor&, Tensor&> name##_out(                                                  \
      Tensor& values, Tensor& indices, groove::Arg self, std::int64_t dim, bool keepdim = false) { \
    const auto [of_values, of_indices] = groove::name(self, dim, keepdim);                         \
    return {detail::into(values, of_values, self.site),                                            \
            detail::into(indices, of_indices, self.site)};                                         \
  }
GROOVE_OUT(max)
GROOVE_OUT(min)
#undef GROOVE_OUT
inline std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, groove::Arg self,
                                             std::int64_t dim = -1, bool descending = false) {
  const auto [of_values, of_indices] = groove::sort(self, dim, descending);
  return {detail::into(values, of_values, self.site), detail::into(indices, of_indices, self.site)};
}
inline std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, groove::Arg self,
                                             std::int64_t k, std::int64_t dim = -1,
                                             bool largest = true, bool sorted = true) {
  const auto [of_values, of_indices] = groove::topk(self, k, dim, largest, sorted);
  return {detail::into(values, of_values, self.site), detail::into(indices, of_indices, self.site)};
}

inline Tensor& addmm_out(Tensor& out, groove::Arg self, const Tensor& mat1, const Tensor& mat2,
                         Scalar beta = 1, Scalar alpha = 1) {
  return detail::into(out, groove::addmm(self, mat1, mat2, beta, alpha), self.site);
}
inline Tensor& clamp_out(Tensor& out, groove::Arg self, std::optional<Scalar> min,
                         std::optional<Scalar> max = std::nullopt) {
  return detail::into(out, groove::clamp(self, min, max), self.site);
}
inline Tensor& where_out(Tensor& out, groove::Arg condition, const Tensor& self,
                         const Tensor& other) {
  return detail::into(out, groove::where(condition, self, other), condition.site);
}
inline Tensor& index_select_out(Tensor& out, groove::Arg self, std::int64_t dim,
                                const Tensor& index) {
  return detail::into(out, groove::index_select(self, dim, index), self.site);
}
inline Tensor& gather_out(Tensor& out, groove::Arg self, std::int64_t dim, const Tensor& index) {
  return detail::into(out, groove::gather(self, dim, index), self.site);
}
inline Tensor& masked_select_out(Tensor& out, groove::Arg self, const Tensor& mask) {
  return detail::into(out, groove::masked_select(self, mask), self.site);
}
inline Tensor& tril_out(Tensor& out, groove::Arg self, std::int64_t diagonal = 0) {
  return detail::into(out, groove::tril(self, diagonal), self.site);
}
inline Tensor& triu_out(Tensor& out, groove::Arg self, std::int64_t diagonal = 0) {
  return detail::into(out, groove::triu(self, diagonal), self.site);
}

// Factories, in the dtype of the tensor.
#define GROOVE_OUT(name)                                                         \
  inline Tensor& name##_out(Tensor& out, IntArrayRef size,                       \
                            groove::Site site = groove::Site::current()) {       \
    return detail::into(out, groove::name(size, out.scalar_type(), site), site); \
  }
GROOVE_OUT(empty)
GROOVE_OUT(zeros)
GROOVE_OUT(ones)
GROOVE_OUT(rand)
GROOVE_OUT(randn)
#undef GROOVE_OUT
inline Tensor& full_out(Tensor& out, IntArrayRef size, Scalar value,
                        groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::full(size, value, out.scalar_type(), site), site);
}
inline Tensor& arange_out(Tensor& out, Scalar end, groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::arange(end, out.scalar_type(), site), site);
}
inline Tensor& arange_out(Tensor& out, Scalar start, Scalar end, Scalar step = 1,
                          groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::arange(start, end, step, out.scalar_type(), site), site);
}
inline Tensor& linspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps,
                            groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::linspace(start, end, steps, out.scalar_type(), site), site);
}
inline Tensor& eye_out(Tensor& out, std::int64_t n, groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::eye(n, out.scalar_type(), site), site);
}
}  // namespace at

namespace torch {
#define GROOVE_USING(name) using at::name;
GROOVE_IN_PLACE_NAMES(GROOVE_USING)
GROOVE_USING(clamp_)
GROOVE_USING(clamp_max_)
GROOVE_USING(clamp_min_)
GROOVE_USING(fill_)
#undef GROOVE_USING
#define GROOVE_USING(name) using at::name##_out;
GROOVE_UNARY_NAMES(GROOVE_USING)
GROOVE_BINARY_NAMES(GROOVE_USING)
GROOVE_USING(addmm)
GROOVE_USING(amax)
GROOVE_USING(amin)
GROOVE_USING(arange)
GROOVE_USING(argmax)
GROOVE_USING(argmin)
GROOVE_USING(clamp)
GROOVE_USING(clamp_max)
GROOVE_USING(clamp_min)
GROOVE_USING(cumprod)
GROOVE_USING(cumsum)
GROOVE_USING(empty)
GROOVE_USING(eye)
GROOVE_USING(full)
GROOVE_USING(gather)
GROOVE_USING(index_select)
GROOVE_USING(linspace)
GROOVE_USING(log_softmax)
GROOVE_USING(logsumexp)
GROOVE_USING(masked_select)
GROOVE_USING(ones)
GROOVE_USING(rand)
GROOVE_USING(randn)
GROOVE_USING(softmax)
GROOVE_USING(sort)
GROOVE_USING(topk)
GROOVE_USING(tril)
GROOVE_USING(triu)
GROOVE_USING(where)
GROOVE_USING(zeros)
#undef GROOVE_USING
}  // namespace torch

#undef GROOVE_IN_PLACE_NAMES
#undef GROOVE_UNARY_NAMES
#undef GROOVE_BINARY_NAMES
#undef GROOVE_NUMBER_NAMES
