// Results into a tensor that is there, of functions with several lists or of none of the tensors:
// forms beside those of out_forms.h.
#pragma once

#include <tuple>

#include "groove/compat/torch/out_forms.h"

namespace at {
#define GROOVE_OUT(name)                                                                   \
  inline Tensor& name##_out(Tensor& out, groove::Arg self, IntArrayRef kernel_size,        \
                            IntArrayRef stride = {}, IntArrayRef padding = 0,              \
                            bool ceil_mode = false, bool count_include_pad = true,         \
                            std::optional<std::int64_t> divisor_override = std::nullopt) { \
    return detail::into(out,                                                               \
                        groove::name(self, kernel_size, stride, padding, ceil_mode,        \
                                     count_include_pad, divisor_override),                 \
                        self.site);                                                        \
  }
GROOVE_OUT(avg_pool2d)
GROOVE_OUT(avg_pool3d)
#undef GROOVE_OUT
inline Tensor& avg_pool1d_out(Tensor& out, groove::Arg self, IntArrayRef kernel_size,
                              IntArrayRef stride = {}, IntArrayRef padding = 0,
                              bool ceil_mode = false, bool count_include_pad = true) {
  return detail::into(
      out, groove::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad),
      self.site);
}
#define GROOVE_OUT(name)                                                                       \
  inline std::tuple<Tensor&, Tensor&> name##_out(                                              \
      Tensor& out, Tensor& indices, groove::Arg self, IntArrayRef kernel_size,                 \
      IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1,              \
      bool ceil_mode = false) {                                                                \
    const auto [a, b] = groove::name(self, kernel_size, stride, padding, dilation, ceil_mode); \
    return {detail::into(out, a, self.site), detail::into(indices, b, self.site)};             \
  }
GROOVE_OUT(max_pool2d_with_indices)
GROOVE_OUT(max_pool3d_with_indices)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                                         \
  inline std::tuple<Tensor&, Tensor&> name##_out(Tensor& out, Tensor& indices, groove::Arg self, \
                                                 IntArrayRef output_size) {                      \
    const auto [a, b] = groove::name(self, output_size);                                         \
    return {detail::into(out, a, self.site), detail::into(indices, b, self.site)};               \
  }
GROOVE_OUT(adaptive_max_pool2d)
GROOVE_OUT(adaptive_max_pool3d)
#undef GROOVE_OUT
inline Tensor& im2col_out(Tensor& out, groove::Arg self, IntArrayRef kernel_size,
                          IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  return detail::into(out, groove::im2col(self, kernel_size, dilation, padding, stride), self.site);
}
inline Tensor& col2im_out(Tensor& out, groove::Arg self, IntArrayRef output_size,
                          IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                          IntArrayRef stride) {
  return detail::into(
      out, groove::col2im(self, output_size, kernel_size, dilation, padding, stride), self.site);
}
inline Tensor& roll_out(Tensor& out, groove::Arg self, IntArrayRef shifts, IntArrayRef dims) {
  return detail::into(out, groove::roll(self, shifts, dims), self.site);
}
inline Tensor& tensordot_out(Tensor& out, groove::Arg self, const Tensor& other,
                             IntArrayRef dims_self, IntArrayRef dims_other) {
  return detail::into(out, groove::tensordot(self, other, dims_self, dims_other), self.site);
}

// Draws and ranges, in the dtype of `out`.
inline Tensor& randint_out(Tensor& out, std::int64_t high, IntArrayRef size,
                           MaybeGenerator generator = {},
                           groove::Site site = groove::Site::current()) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::randint(high, size, out.scalar_type(), site), site);
}
inline Tensor& randint_out(Tensor& out, std::int64_t low, std::int64_t high, IntArrayRef size,
                           MaybeGenerator generator = {},
                           groove::Site site = groove::Site::current()) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::randint(low, high, size, out.scalar_type(), site), site);
}
inline Tensor& normal_out(Tensor& out, groove::Arg mean, double std = 1,
                          MaybeGenerator generator = {}) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::normal(*mean.tensor, std), mean.site);
}
inline Tensor& normal_out(Tensor& out, double mean, groove::Arg std,
                          MaybeGenerator generator = {}) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::normal(mean, *std.tensor), std.site);
}
inline Tensor& normal_out(Tensor& out, groove::Arg mean, const Tensor& std,
                          MaybeGenerator generator = {}) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::normal(*mean.tensor, std), mean.site);
}
inline Tensor& bernoulli_out(Tensor& out, groove::Arg self, MaybeGenerator generator = {}) {
  const groove::DrawsFrom scope(generator);
  return detail::into(out, groove::bernoulli(self), self.site);
}
inline Tensor& eye_out(Tensor& out, std::int64_t n, std::int64_t m,
                       groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::eye(n, m, out.scalar_type(), site), site);
}
inline Tensor& logspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps,
                            double base = 10, groove::Site site = groove::Site::current()) {
  return detail::into(out, groove::logspace(start, end, steps, base, out.scalar_type(), site),
                      site);
}
}  // namespace at

namespace torch {
#define GROOVE_USING(name) using at::name##_out;
GROOVE_USING(adaptive_max_pool2d)
GROOVE_USING(adaptive_max_pool3d)
GROOVE_USING(avg_pool1d)
GROOVE_USING(avg_pool2d)
GROOVE_USING(avg_pool3d)
GROOVE_USING(bernoulli)
GROOVE_USING(col2im)
GROOVE_USING(eye)
GROOVE_USING(im2col)
GROOVE_USING(logspace)
GROOVE_USING(max_pool2d_with_indices)
GROOVE_USING(max_pool3d_with_indices)
GROOVE_USING(normal)
GROOVE_USING(randint)
GROOVE_USING(roll)
GROOVE_USING(tensordot)
#undef GROOVE_USING
}  // namespace torch
