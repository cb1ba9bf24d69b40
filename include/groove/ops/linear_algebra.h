// Factorisations of matrices, [.., m, n] with batches in front, and what is solved with them. f32
// and f64; sums run in f64 and in one order. A matrix that has no answer (singular, not positive
// definite) throws groove::Error.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

// ---- LU: A = P L U, rows exchanged so that each pivot is the greatest of its column ----

/// L and U in one matrix, and for each row the one it was exchanged with, counted from 1 (i32).
std::tuple<Tensor, Tensor> linalg_lu_factor(Arg A, bool pivot = true);
/// … and the row (counted from 1) of the first pivot that is 0, or 0 (i32); throws only when asked.
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(Arg A, bool pivot = true,
                                                       bool check_errors = false);
/// P [.., m, m], L [.., m, k], U [.., k, n] with k = min(m, n).
std::tuple<Tensor, Tensor, Tensor> linalg_lu(Arg A, bool pivot = true);
std::tuple<Tensor, Tensor, Tensor> lu_unpack(Arg LU_data, const Tensor& LU_pivots,
                                             bool unpack_data = true, bool unpack_pivots = true);
/// The X of A X = B (X A = B unless `left`), of the transpose of A where `adjoint`.
Tensor linalg_lu_solve(Arg LU, const Tensor& pivots, const Tensor& B, bool left = true,
                       bool adjoint = false);
Tensor lu_solve(Arg self, const Tensor& LU_data, const Tensor& LU_pivots);

/// The X of A X = B (X A = B unless `left`). B is [.., n, k], or [.., n] where that is A's shape
/// without its last axis.
Tensor linalg_solve(Arg A, const Tensor& B, bool left = true);
std::tuple<Tensor, Tensor> linalg_solve_ex(Arg A, const Tensor& B, bool left = true,
                                           bool check_errors = false);
Tensor linalg_inv(Arg A);
std::tuple<Tensor, Tensor> linalg_inv_ex(Arg A, bool check_errors = false);
Tensor inverse(Arg self);
Tensor linalg_det(Arg A);
Tensor det(Arg self);
/// The determinant's sign and the logarithm of its magnitude.
std::tuple<Tensor, Tensor> linalg_slogdet(Arg A);
std::tuple<Tensor, Tensor> slogdet(Arg self);
/// NaN where the determinant is negative.
Tensor logdet(Arg self);
/// The first `ind` axes of self against the others.
Tensor linalg_tensorinv(Arg self, std::int64_t ind = 2);
Tensor linalg_tensorsolve(Arg self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt);

// ---- triangles ----

/// The X of A X = B (X A = B unless `left`) for a triangular A, the other triangle of which is not
/// read; its diagonal is 1 where `unitriangular`.
Tensor linalg_solve_triangular(Arg self, const Tensor& B, bool upper, bool left = true,
                               bool unitriangular = false);
/// X and A.
std::tuple<Tensor, Tensor> triangular_solve(Arg self, const Tensor& A, bool upper = true,
                                            bool transpose = false, bool unitriangular = false);
/// The L with L L^T = self (U with U^T U where `upper`); only the lower triangle is read, the
/// gradient takes self to be symmetric.
Tensor linalg_cholesky(Arg self, bool upper = false);
/// … and the order of the first minor that is not positive, or 0 (i32).
std::tuple<Tensor, Tensor> linalg_cholesky_ex(Arg self, bool upper = false,
                                              bool check_errors = false);
Tensor cholesky(Arg self, bool upper = false);
/// The X of A X = self, for the A whose factor is input2.
Tensor cholesky_solve(Arg self, const Tensor& input2, bool upper = false);
/// The inverse of the matrix whose factor is self.
Tensor cholesky_inverse(Arg self, bool upper = false);

// ---- orthogonal factors ----

/// Q R by reflections; mode is "reduced" (Q [.., m, k], R [.., k, n]), "complete" (Q [.., m, m],
/// R [.., m, n]) or "r" (without Q).
std::tuple<Tensor, Tensor> linalg_qr(Arg A, std::string_view mode = "reduced");
std::tuple<Tensor, Tensor> qr(Arg self, bool some = true);
/// R on and above the diagonal, below it the reflections I - tau v v^T whose product is Q: each v
/// below its leading 1 (as LAPACK's geqrf); and tau [.., k].
std::tuple<Tensor, Tensor> geqrf(Arg self);
/// The first columns of the product of such reflections, as many as input has.
Tensor linalg_householder_product(Arg input, const Tensor& tau);
Tensor orgqr(Arg self, const Tensor& tau);
/// Q other (other Q unless `left`), with the whole Q of reflections; or with its transpose.
Tensor ormqr(Arg self, const Tensor& tau, const Tensor& other, bool left = true,
             bool transpose = false);
/// Eigenvalues of a symmetric matrix in ascending order and eigenvectors as columns, of which the
/// element of greatest magnitude is positive. Only the triangle that UPLO names is read.
std::tuple<Tensor, Tensor> linalg_eigh(Arg self, std::string_view UPLO = "L");
Tensor linalg_eigvalsh(Arg self, std::string_view UPLO = "L");
/// Complex eigenvalues [.., n] of any real square matrix and eigenvectors as columns of length 1, of
/// which the element of greatest magnitude is real and positive. In the order of the QR algorithm,
/// pairs with the positive imaginary part first. The gradient is of losses that do not change when
/// a vector is turned. Throws for complex matrices.
std::tuple<Tensor, Tensor> linalg_eig(Arg self);
Tensor linalg_eigvals(Arg self);
/// U [.., m, k], S [.., k] in descending order, V^T [.., k, n]; square U and V^T where
/// full_matrices. The driver is not looked at.
std::tuple<Tensor, Tensor, Tensor> linalg_svd(
    Arg A, bool full_matrices = true, std::optional<std::string_view> driver = std::nullopt);
Tensor linalg_svdvals(Arg A, std::optional<std::string_view> driver = std::nullopt);
/// U, S and V (not transposed); zeros for U and V unless compute_uv.
std::tuple<Tensor, Tensor, Tensor> svd(Arg self, bool some = true, bool compute_uv = true);

/// The Moore-Penrose inverse; singular values up to max(atol, rtol * the greatest) count as 0. rtol
/// is max(m, n) times the dtype's epsilon, or 0 where an atol is given.
Tensor linalg_pinv(Arg self, const std::optional<Tensor>& atol = std::nullopt,
                   const std::optional<Tensor>& rtol = std::nullopt, bool hermitian = false);
Tensor linalg_pinv(Arg self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian = false);
Tensor linalg_pinv(Arg self, double rcond, bool hermitian = false);
Tensor pinverse(Arg self, double rcond = 1e-15);
/// How many singular values count (i64).
Tensor linalg_matrix_rank(Arg self, const std::optional<Tensor>& atol = std::nullopt,
                          const std::optional<Tensor>& rtol = std::nullopt, bool hermitian = false);
Tensor linalg_matrix_rank(Arg self, std::optional<double> atol, std::optional<double> rtol,
                          bool hermitian = false);
Tensor linalg_matrix_rank(Arg self, double tol, bool hermitian = false);
/// The X of least |self X - b|, sums of squared residuals, rank and singular values; what the
/// driver ("gelsy" unless given, "gels", "gelsd", "gelss") does not find is empty.
std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(
    Arg self, const Tensor& b, std::optional<double> rcond = std::nullopt,
    std::optional<std::string_view> driver = std::nullopt);

}  // namespace groove
