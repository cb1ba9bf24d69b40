// torch::linalg: the functions linalg_… of groove/ops under the names that LibTorch gave them in a
// namespace of their own.
#pragma once

#include "groove/ops/linear_algebra.h"
#include "groove/ops/norms.h"
#include "groove/ops/products.h"

namespace groove::linalg {

inline Tensor cholesky(Arg self) { return linalg_cholesky(self); }
inline Tensor det(Arg self) { return linalg_det(self); }
inline std::tuple<Tensor, Tensor> slogdet(Arg self) { return linalg_slogdet(self); }
inline Tensor inv(Arg self) { return linalg_inv(self); }
inline Tensor solve(Arg self, const Tensor& other, bool left = true) {
  return linalg_solve(self, other, left);
}
inline Tensor solve_triangular(Arg self, const Tensor& other, bool upper, bool left = true,
                               bool unitriangular = false) {
  return linalg_solve_triangular(self, other, upper, left, unitriangular);
}
inline Tensor tensorinv(Arg self, std::int64_t ind = 2) { return linalg_tensorinv(self, ind); }
inline Tensor tensorsolve(Arg self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt) {
  return linalg_tensorsolve(self, other, dims);
}
inline std::tuple<Tensor, Tensor> lu_factor(Arg self, bool pivot = true) {
  return linalg_lu_factor(self, pivot);
}
inline std::tuple<Tensor, Tensor, Tensor> lu(Arg self, bool pivot = true) {
  return linalg_lu(self, pivot);
}
inline std::tuple<Tensor, Tensor> qr(Arg self, std::string_view mode = "reduced") {
  return linalg_qr(self, mode);
}
inline std::tuple<Tensor, Tensor> eig(Arg self) { return linalg_eig(self); }
inline Tensor eigvals(Arg self) { return linalg_eigvals(self); }
inline std::tuple<Tensor, Tensor> eigh(Arg self, std::string_view uplo = "L") {
  return linalg_eigh(self, uplo);
}
inline Tensor eigvalsh(Arg self, std::string_view uplo = "L") {
  return linalg_eigvalsh(self, uplo);
}
inline std::tuple<Tensor, Tensor, Tensor> svd(
    Arg self, bool full_matrices = true, std::optional<std::string_view> driver = std::nullopt) {
  return linalg_svd(self, full_matrices, driver);
}
inline Tensor svdvals(Arg self, std::optional<std::string_view> driver = std::nullopt) {
  return linalg_svdvals(self, driver);
}
inline Tensor pinv(Arg self, double rcond = 1e-15, bool hermitian = false) {
  return linalg_pinv(self, rcond, hermitian);
}
inline Tensor matrix_rank(Arg self, double tol, bool hermitian = false) {
  return linalg_matrix_rank(self, tol, hermitian);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(
    Arg self, const Tensor& b, std::optional<double> rcond = std::nullopt,
    std::optional<std::string_view> driver = std::nullopt) {
  return linalg_lstsq(self, b, rcond, driver);
}
inline Tensor matrix_power(Arg self, std::int64_t n) { return linalg_matrix_power(self, n); }
inline Tensor matrix_exp(Arg self) { return linalg_matrix_exp(self); }
inline Tensor matmul(Arg self, const Tensor& other) { return linalg_matmul(self, other); }
inline Tensor multi_dot(TensorList tensors, Site site = Site::current()) {
  return linalg_multi_dot(tensors, site);
}
inline Tensor vector_norm(Arg self, Scalar ord = 2, OptionalIntArrayRef dim = std::nullopt,
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(Arg self, Scalar ord, IntArrayRef dim = {-2, -1}, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(Arg self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(Arg self, const std::optional<Scalar>& ord = std::nullopt,
                   OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                   std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(Arg self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt,
                   bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}

}  // namespace groove::linalg
