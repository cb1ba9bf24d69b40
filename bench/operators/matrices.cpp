// Factorisations of matrices and what is solved by them.
#include "cases.h"

using torch::Tensor;

void matrices(Measure& measure, std::int64_t n) {
  const Tensor A = torch::randn({n, n}), S = A.mm(A.t()) + torch::eye(n) * n,
               B = torch::randn({n, 4}), bA = torch::randn({32, n / 4, n / 4});
  measure.forward("inverse", [&] { return S.inverse(); });
  measure.forward("det", [&] { return torch::det(A); });
  measure.forward("cholesky", [&] { return torch::linalg_cholesky(S); });
  measure.forward("solve", [&] { return torch::linalg_solve(S, B); });
  measure.forward("qr", [&] { return std::get<0>(torch::linalg_qr(A)); });
  measure.forward("svd", [&] { return std::get<1>(torch::linalg_svd(A, false)); });
  measure.forward("eigh", [&] { return std::get<0>(torch::linalg_eigh(S)); });
  measure.forward("lstsq", [&] { return std::get<0>(torch::linalg_lstsq(A, B)); });
  measure.forward("matrix_exp", [&] { return torch::matrix_exp(A * 0.1); });
  measure.forward("pinv", [&] { return torch::pinverse(A); });
  measure.forward("inverse of a batch", [&] { return torch::inverse(bA); });
  measure.forward("slogdet", [&] { return std::get<1>(torch::slogdet(S)); });
  measure.forward("triangular", [&] { return torch::linalg_solve_triangular(S.tril(), B, false); });
  measure.forward("eig", [&] { return torch::real(std::get<0>(torch::linalg_eig(A))); });
}
