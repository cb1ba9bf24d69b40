// Results into a tensor that is there, which takes their shape: name_out(out, arguments...) is
// name(arguments...), for any form that the function has. One list of numbers in braces may follow
// the first tensor.
#pragma once

#include <concepts>
#include <tuple>
#include <utility>

#include "groove/compat/torch/in_place.h"
#include "groove/ops/special_functions.h"

// clang-format off
#define GROOVE_OUT_NAMES(X) \
  X(gather) X(max) X(mean) X(median) X(min) X(sum) X(absolute) X(adaptive_avg_pool1d) \
  X(adaptive_avg_pool2d) X(adaptive_avg_pool3d) X(add) X(addbmm) X(addcdiv) X(addcmul) \
  X(addmv) X(addr) X(all) X(amax) X(amin) X(any) X(arccos) X(arccosh) X(arcsin) X(arcsinh) \
  X(arctan) X(arctan2) X(arctanh) X(argsort) X(avg_pool1d) X(avg_pool2d) X(avg_pool3d) \
  X(baddbmm) X(binary_cross_entropy) X(binary_cross_entropy_with_logits) X(bincount) \
  X(bitwise_left_shift) X(bitwise_right_shift) X(bucketize) X(celu) X(channel_shuffle) \
  X(cholesky_inverse) X(cholesky_solve) X(clamp) X(clamp_max) X(clamp_min) X(clip) X(col2im) \
  X(complex) X(constant_pad_nd) X(copysign) X(count_nonzero) X(cross) X(diag) X(diag_embed) \
  X(diagonal_scatter) X(diff) X(dist) X(div) X(divide) X(elu) X(embedding) X(erfinv) X(fix) \
  X(flip) X(float_power) X(floor_divide) X(frobenius_norm) X(gelu) X(ger) X(glu) X(greater) \
  X(greater_equal) X(hardshrink) X(hardtanh) X(heaviside) X(histc) X(huber_loss) X(igamma) \
  X(igammac) X(im2col) X(index_add) X(index_copy) X(index_fill) X(index_reduce) X(isin) \
  X(isinf) X(isnan) X(leaky_relu) X(lerp) X(less) X(less_equal) X(linalg_cholesky) \
  X(linalg_cond) X(linalg_cross) X(linalg_det) X(linalg_eigvals) X(linalg_eigvalsh) \
  X(linalg_householder_product) X(linalg_inv) X(linalg_lu_solve) X(linalg_matmul) \
  X(linalg_matrix_exp) X(linalg_matrix_norm) X(linalg_matrix_power) X(linalg_matrix_rank) \
  X(linalg_norm) X(linalg_pinv) X(linalg_solve) X(linalg_solve_triangular) X(linalg_svdvals) \
  X(linalg_tensorinv) X(linalg_tensorsolve) X(linalg_vecdot) X(linalg_vector_norm) \
  X(logcumsumexp) X(logit) X(logsumexp) X(lu_solve) X(masked_fill) X(masked_scatter) \
  X(matrix_power) X(mse_loss) X(mul) X(multi_margin_loss) X(multilabel_margin_loss) \
  X(multinomial) X(multiply) X(mvlgamma) X(nan_to_num) X(nanmean) X(nanmedian) X(nansum) \
  X(narrow_copy) X(negative) X(nll_loss) X(norm) X(not_equal) X(nuclear_norm) X(orgqr) \
  X(ormqr) X(pixel_shuffle) X(pixel_unshuffle) X(polar) X(prod) X(put) X(reflection_pad1d) \
  X(reflection_pad2d) X(reflection_pad3d) X(remainder) X(renorm) X(repeat) \
  X(repeat_interleave) X(replication_pad1d) X(replication_pad2d) X(replication_pad3d) X(roll) \
  X(rot90) X(round) X(rsub) X(scatter) X(scatter_add) X(scatter_reduce) X(searchsorted) \
  X(select_scatter) X(slice_scatter) X(smooth_l1_loss) X(soft_margin_loss) X(softplus) \
  X(softshrink) X(std) X(sub) X(subtract) X(take) X(take_along_dim) X(tensordot) X(threshold) \
  X(trace) X(true_divide) X(upsample_bicubic2d) X(upsample_bilinear2d) X(upsample_linear1d) \
  X(upsample_nearest1d) X(upsample_nearest2d) X(upsample_nearest3d) X(upsample_trilinear3d) \
  X(var) X(vdot) X(xlogy) X(special_bessel_j0) X(special_bessel_j1) X(special_digamma) \
  X(special_entr) X(special_erf) X(special_erfc) X(special_erfcx) X(special_erfinv) \
  X(special_exp2) X(special_expit) X(special_expm1) X(special_gammaln) X(special_i0) \
  X(special_i0e) X(special_i1) X(special_i1e) X(special_log1p) X(special_log_ndtr) \
  X(special_logit) X(special_logsumexp) X(special_multigammaln) X(special_ndtr) \
  X(special_ndtri) X(special_psi) X(special_round) X(special_sinc) X(special_xlog1py) \
  X(special_xlogy) X(special_zeta)
#define GROOVE_OUT_TWO_NAMES(X) \
  X(aminmax) X(cummax) X(cummin) X(geqrf) X(kthvalue) X(linalg_cholesky_ex) X(linalg_eig) \
  X(linalg_eigh) X(linalg_inv_ex) X(linalg_lu_factor) X(linalg_qr) X(linalg_slogdet) \
  X(linalg_solve_ex) X(max_pool2d_with_indices) X(max_pool3d_with_indices) X(median) X(mode) \
  X(nanmedian) X(qr) X(slogdet) X(sort) X(std_mean) X(triangular_solve) X(var_mean)
#define GROOVE_OUT_THREE_NAMES(X) \
  X(linalg_lu) X(linalg_lu_factor_ex) X(linalg_svd) X(lu_unpack) X(svd) X(unique_consecutive) \
  X(unique_dim) X(unique_dim_consecutive)
#define GROOVE_OUT_LIST_NAMES(X) \
  X(block_diag) X(chain_matmul) X(column_stack) X(concat) X(concatenate) X(dstack) X(hstack) \
  X(linalg_multi_dot) X(row_stack) X(vstack)
#define GROOVE_OUT_NUMBER_NAMES(X) \
  X(bitwise_and) X(bitwise_left_shift) X(bitwise_or) X(bitwise_right_shift) X(bitwise_xor) \
  X(bucketize) X(float_power) X(isin) X(pow) X(remainder) X(special_xlog1py) X(special_xlogy) \
  X(special_zeta) X(xlogy)
// clang-format on

namespace at {
#define GROOVE_OUT(name)                                                                        \
  template <typename... Args>                                                                   \
  requires requires(groove::Arg self, Args && ... args) {                                       \
    { groove::name(self, std::forward<Args>(args)...) } -> std::same_as<Tensor>;                \
  }                                                                                             \
  Tensor& name##_out(Tensor& out, groove::Arg self, Args&&... args) {                           \
    return detail::into(out, groove::name(self, std::forward<Args>(args)...), self.site);       \
  }                                                                                             \
  template <typename... Args>                                                                   \
  requires requires(groove::Arg self, IntArrayRef list, Args && ... args) {                     \
    { groove::name(self, list, std::forward<Args>(args)...) } -> std::same_as<Tensor>;          \
  }                                                                                             \
  Tensor& name##_out(Tensor& out, groove::Arg self, IntArrayRef list, Args&&... args) {         \
    return detail::into(out, groove::name(self, list, std::forward<Args>(args)...), self.site); \
  }
GROOVE_OUT_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                                   \
  template <typename... Args>                                                              \
  requires requires(groove::Arg self, Args && ... args) {                                  \
    {                                                                                      \
      groove::name(self, std::forward<Args>(args)...)                                      \
      } -> std::same_as<std::tuple<Tensor, Tensor>>;                                       \
  }                                                                                        \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, groove::Arg self, \
                                          Args&&... args) {                                \
    const auto [a, b] = groove::name(self, std::forward<Args>(args)...);                   \
    return {detail::into(first, a, self.site), detail::into(second, b, self.site)};        \
  }
GROOVE_OUT_TWO_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                                   \
  template <typename... Args>                                                              \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, groove::Arg self, \
                                          IntArrayRef list, Args&&... args) {              \
    const auto [a, b] = groove::name(self, list, std::forward<Args>(args)...);             \
    return {detail::into(first, a, self.site), detail::into(second, b, self.site)};        \
  }
GROOVE_OUT(std_mean)
GROOVE_OUT(var_mean)
#undef GROOVE_OUT
// The list follows a number or a name.
#define GROOVE_OUT(name)                                                                   \
  template <typename Order, typename... Args>                                              \
  Tensor& name##_out(Tensor& out, groove::Arg self, const Order& order, IntArrayRef list,  \
                     Args&&... args) {                                                     \
    return detail::into(out, groove::name(self, order, list, std::forward<Args>(args)...), \
                        self.site);                                                        \
  }
GROOVE_OUT(linalg_matrix_norm)
GROOVE_OUT(linalg_norm)
GROOVE_OUT(linalg_vector_norm)
GROOVE_OUT(norm)
GROOVE_OUT(rot90)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                                         \
  template <typename... Args>                                                                    \
  std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, Tensor& third, \
                                                   groove::Arg self, Args&&... args) {           \
    const auto [a, b, c] = groove::name(self, std::forward<Args>(args)...);                      \
    return {detail::into(first, a, self.site), detail::into(second, b, self.site),               \
            detail::into(third, c, self.site)};                                                  \
  }
GROOVE_OUT_THREE_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                         \
  template <typename... Args>                                                    \
  requires requires(TensorList tensors, Args && ... args) {                      \
    groove::name(tensors, std::forward<Args>(args)...);                          \
  }                                                                              \
  Tensor& name##_out(Tensor& out, TensorList tensors, Args&&... args) {          \
    return detail::into(out, groove::name(tensors, std::forward<Args>(args)...), \
                        groove::Site::none());                                   \
  }
GROOVE_OUT_LIST_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
#define GROOVE_OUT(name)                                                                     \
  template <typename Number, typename... Args>                                               \
  requires std::convertible_to<Number, Scalar> Tensor& name##_out(                           \
      Tensor& out, Number self, groove::Arg other, Args&&... args) {                         \
    return detail::into(out, groove::name(Scalar(self), other, std::forward<Args>(args)...), \
                        other.site);                                                         \
  }
GROOVE_OUT_NUMBER_NAMES(GROOVE_OUT)
#undef GROOVE_OUT
}  // namespace at

namespace torch {
#define GROOVE_USING(name) using at::name##_out;
GROOVE_OUT_NAMES(GROOVE_USING)
GROOVE_OUT_TWO_NAMES(GROOVE_USING)
GROOVE_OUT_THREE_NAMES(GROOVE_USING)
GROOVE_OUT_LIST_NAMES(GROOVE_USING)
GROOVE_OUT_NUMBER_NAMES(GROOVE_USING)
#undef GROOVE_USING
}  // namespace torch

#undef GROOVE_OUT_NAMES
#undef GROOVE_OUT_TWO_NAMES
#undef GROOVE_OUT_THREE_NAMES
#undef GROOVE_OUT_LIST_NAMES
#undef GROOVE_OUT_NUMBER_NAMES
