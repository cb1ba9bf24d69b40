// Methods of Tensor for products and factorisations of matrices; the method forms of
// groove/ops/products.h and groove/ops/linear_algebra.h, where shapes and errors are documented.
#pragma once

#include "groove/methods/parts.h"

namespace groove {

class LinearAlgebraMethods : public PartMethods {
 public:
  using PartMethods::PartMethods;

  Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1,
                 Site site = Site::current()) const;
  Tensor addmv(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1,
               Site site = Site::current()) const;
  Tensor& addmv_(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1,
                 Site site = Site::current()) const;
  Tensor addr(const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1,
              Site site = Site::current()) const;
  Tensor& addr_(const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1,
                Site site = Site::current()) const;
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1,
                Site site = Site::current()) const;
  Tensor& addbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1,
                  Site site = Site::current()) const;
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1,
                 Site site = Site::current()) const;
  Tensor& baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1,
                   Site site = Site::current()) const;
  Tensor inner(const Tensor& other, Site site = Site::current()) const;
  Tensor vdot(const Tensor& other, Site site = Site::current()) const;
  Tensor kron(const Tensor& other, Site site = Site::current()) const;
  Tensor cross(const Tensor& other, std::optional<std::int64_t> dim = std::nullopt,
               Site site = Site::current()) const;
  Tensor outer(const Tensor& vec2, Site site = Site::current()) const;
  Tensor ger(const Tensor& vec2, Site site = Site::current()) const;
  Tensor matrix_power(std::int64_t n, Site site = Site::current()) const;
  Tensor matrix_exp(Site site = Site::current()) const;
  Tensor dist(const Tensor& other, Scalar p = 2, Site site = Site::current()) const;

  Tensor inverse(Site site = Site::current()) const;
  Tensor det(Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> slogdet(Site site = Site::current()) const;
  Tensor logdet(Site site = Site::current()) const;
  Tensor lu_solve(const Tensor& LU_data, const Tensor& LU_pivots,
                  Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> triangular_solve(const Tensor& A, bool upper = true,
                                              bool transpose = false, bool unitriangular = false,
                                              Site site = Site::current()) const;
  Tensor cholesky(bool upper = false, Site site = Site::current()) const;
  Tensor cholesky_solve(const Tensor& input2, bool upper = false,
                        Site site = Site::current()) const;
  Tensor cholesky_inverse(bool upper = false, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> geqrf(Site site = Site::current()) const;
  Tensor orgqr(const Tensor& tau, Site site = Site::current()) const;
  Tensor ormqr(const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false,
               Site site = Site::current()) const;
  std::tuple<Tensor, Tensor> qr(bool some = true, Site site = Site::current()) const;
  std::tuple<Tensor, Tensor, Tensor> svd(bool some = true, bool compute_uv = true,
                                         Site site = Site::current()) const;
  Tensor pinverse(double rcond = 1e-15, Site site = Site::current()) const;
};

}  // namespace groove
