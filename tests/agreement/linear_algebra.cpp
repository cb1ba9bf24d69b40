// Factorisations of matrices and what is solved with them. Where signs are free, what does not
// depend on them is shown.
#include "cases.h"

using namespace agreement;

namespace {

// Matrices without rows that are sums of others.
torch::Tensor regular(torch::IntArrayRef sizes, std::int64_t j) {
  const auto x = filled(sizes, j);
  return (x * x * 0.7 + x * 0.5 + torch::eye(sizes[sizes.size() - 2], sizes.back(), torch::kDouble))
      .detach()
      .requires_grad_();
}
torch::Tensor positive(torch::IntArrayRef sizes, std::int64_t j) {
  const auto x = regular(sizes, j).detach();
  return (x.matmul(x.transpose(-2, -1)) + torch::eye(sizes.back(), torch::kDouble))
      .detach()
      .requires_grad_();
}
torch::Tensor symmetric(torch::IntArrayRef sizes, std::int64_t j) {
  const auto x = regular(sizes, j).detach();
  return (x + x.transpose(-2, -1)).detach().requires_grad_();
}

}  // namespace

CASE(solve) {
  const auto a = regular({4, 4}, 0), b = leaf({4, 2}, 1), x = regular({2, 3, 3}, 2),
             y = leaf({2, 3, 2}, 3), v = leaf({4}, 4);
  show_gradients("matrix", torch::linalg_solve(a, b), {a, b});
  show_gradients("vector", torch::linalg_solve(a, v), {a, v});
  show_gradients("batch", torch::linalg_solve(x, y), {x, y});
  show_gradients("broadcast", torch::linalg_solve(x, leaf({3, 2}, 5)), {x});
  show_gradients("batch of vectors", torch::linalg_solve(x, leaf({2, 3}, 6)), {x});
  show_gradients("right", torch::linalg_solve(a, leaf({2, 4}, 7), false), {a});
  const auto [solution, info] = torch::linalg_solve_ex(a, b);
  show("ex", solution);
  show("ex info", info);
  show_gradients("inv", torch::linalg_inv(a), {a});
  show_gradients("inverse", torch::inverse(x), {x});
  show_gradients("inverse method", a.inverse(), {a});
  show("inv_ex", std::get<0>(torch::linalg_inv_ex(a)));
  show("float", torch::linalg_inv(a.detach().to(torch::kFloat)).to(torch::kDouble) * 0);
  show_gradients("det", torch::det(a), {a});
  show_gradients("det batch", torch::linalg_det(x), {x});
  show_gradients("det method", x.det(), {x});
  const auto [sign, logarithm] = torch::slogdet(x);
  show("slogdet sign", sign);
  show_gradients("slogdet", logarithm, {x});
  show_gradients("linalg_slogdet", std::get<1>(torch::linalg_slogdet(a)), {a});
  show_gradients("logdet", torch::logdet(positive({3, 3}, 8)), {});
  show("logdet negative", torch::logdet(-torch::eye(3, torch::kDouble)));
  show_gradients("second",
                 [&] {
                   const auto inverse = torch::linalg_inv(a);
                   return torch::autograd::grad({(inverse * inverse).sum()}, {a}, {}, true,
                                                true)[0];
                 }(),
                 {a});
  const auto singular = torch::ones({2, 2}, torch::kDouble);
  show_error("singular", [&] { torch::linalg_solve(singular, leaf({2, 1}, 0)); });
  show_error("singular inverse", [&] { torch::inverse(singular); });
  show("singular det", torch::det(singular));
  show_error("shape", [&] { torch::linalg_solve(b, b); });
  show_error("rows", [&] { torch::linalg_solve(a, leaf({3, 2}, 1)); });
  show_error("integers", [&] { torch::linalg_inv(torch::ones({2, 2}, torch::kLong)); });
  const auto cube = regular({6, 6}, 9).detach().reshape({2, 3, 6}).requires_grad_();
  show_gradients("tensorinv", torch::linalg_tensorinv(cube, 2), {cube});
  show_gradients("tensorsolve", torch::linalg_tensorsolve(cube, leaf({2, 3}, 1)), {cube});
}

CASE(lu) {
  for (const auto& sizes :
       std::vector<std::vector<std::int64_t>>{{4, 4}, {3, 5}, {5, 3}, {2, 3, 3}}) {
    const auto a = regular(sizes, 0);
    const std::string name = std::to_string(sizes.size()) + "d " + std::to_string(sizes[0]);
    const auto [factors, pivots] = torch::linalg_lu_factor(a);
    show_gradients(name + " factor", factors, {a});
    show(name + " pivots", pivots);
    const auto [p, l, u] = torch::linalg_lu(a);
    show(name + " P", p);
    show_gradients(name + " L", l, {a});
    const auto [p2, l2, u2] = torch::lu_unpack(factors.detach(), pivots);
    show(name + " unpacked", p2.matmul(l2).matmul(u2));
    show_gradients(name + " U", std::get<2>(torch::linalg_lu(a)), {a});
  }
  const auto a = regular({2, 3, 3}, 1), b = leaf({2, 3, 2}, 2);
  const auto [factors, pivots] = torch::linalg_lu_factor(a.detach());
  const auto lu = factors.detach().requires_grad_();
  show_gradients("solve", torch::linalg_lu_solve(lu, pivots, b), {lu, b});
  show_gradients("solve adjoint", torch::linalg_lu_solve(lu, pivots, b, true, true), {lu, b});
  show_gradients("solve right", torch::linalg_lu_solve(lu, pivots, b.transpose(1, 2), false),
                 {lu, b});
  show_gradients("lu_solve", torch::lu_solve(b, lu, pivots), {b});
  show("info", std::get<2>(torch::linalg_lu_factor_ex(torch::zeros({2, 2}, torch::kDouble))));
  show_error("shape", [&] { torch::linalg_lu_factor(leaf({3}, 0)); });
}

CASE(cholesky) {
  const auto a = positive({4, 4}, 0), x = positive({2, 3, 3}, 1), b = leaf({4, 2}, 2);
  show_gradients("lower", torch::linalg_cholesky(a), {a});
  show_gradients("upper", torch::linalg_cholesky(a, true), {a});
  show_gradients("batch", torch::linalg_cholesky(x), {x});
  show("ex info", std::get<1>(torch::linalg_cholesky_ex(-a.detach())));
  const auto l = torch::linalg_cholesky(a.detach()).requires_grad_();
  show_gradients("solve", torch::cholesky_solve(b, l), {b, l});
  show_gradients("solve upper", b.cholesky_solve(l.detach().t(), true), {b});
  show_gradients("inverse", torch::cholesky_inverse(l), {l});
  show("inverse upper", l.detach().t().cholesky_inverse(true));
  show_error("negative", [&] { torch::linalg_cholesky(-a); });
  show_error("shape", [&] { torch::linalg_cholesky(b); });
}

CASE(triangular) {
  const auto a = regular({2, 3, 3}, 0), b = leaf({2, 3, 4}, 1), c = leaf({2, 4, 3}, 2);
  show_gradients("upper", torch::linalg_solve_triangular(a, b, true), {a, b});
  show_gradients("lower", torch::linalg_solve_triangular(a, b, false), {a, b});
  show_gradients("right", torch::linalg_solve_triangular(a, c, true, false), {a, c});
  show_gradients("unit", torch::linalg_solve_triangular(a, b, false, true, true), {a, b});
  show_gradients("triangular_solve", std::get<0>(torch::triangular_solve(b, a)), {a, b});
  show_gradients("transposed", std::get<0>(b.triangular_solve(a, false, true)), {a, b});
  show_error("shape", [&] { torch::linalg_solve_triangular(a, c, true); });
}

CASE(qr) {
  for (const auto& sizes :
       std::vector<std::vector<std::int64_t>>{{3, 3}, {5, 3}, {3, 5}, {2, 4, 2}}) {
    const auto a = regular(sizes, 0);
    const std::string name = std::to_string(sizes.size()) + "d " + std::to_string(sizes[0]);
    show_gradients(name + " Q", std::get<0>(torch::linalg_qr(a)), {a});
    const auto [q, r] = torch::linalg_qr(a);
    show_gradients(name + " R", r, {a});
    show_gradients(name + " both",
                   std::get<0>(torch::linalg_qr(a)).sum() + std::get<1>(torch::linalg_qr(a)).sum(),
                   {a});
    const auto [q2, r2] = torch::linalg_qr(a.detach(), "complete");
    show(name + " complete", q2.matmul(r2));
    show(name + " orthogonal", q2.transpose(-2, -1).matmul(q2).round());
    show(name + " r", std::get<1>(torch::linalg_qr(a.detach(), "r")));
  }
  show_error("mode", [&] { torch::linalg_qr(regular({3, 3}, 0), "other"); });
}

CASE(eigh) {
  for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{4, 4}, {2, 3, 3}}) {
    const auto a = symmetric(sizes, 0);
    const std::string name = std::to_string(sizes.size()) + "d";
    show_gradients(name + " values", torch::linalg_eigvalsh(a), {a});
    const auto [values, vectors] = torch::linalg_eigh(a);
    show_gradients(name + " values of both", values, {a});
    const auto [values2, vectors2] = torch::linalg_eigh(a);
    show_gradients(name + " squares", (vectors2 * vectors2), {a});
    show_gradients(name + " upper", torch::linalg_eigvalsh(a, "U"), {a});
    const auto [w, v] = torch::linalg_eigh(a);
    show_gradients(name + " exp", (v * w.exp().unsqueeze(-2)).matmul(v.transpose(-2, -1)), {a});
  }
  show("lower", torch::linalg_eigvalsh(regular({3, 3}, 1)));
  show("upper", torch::linalg_eigvalsh(regular({3, 3}, 1), "U"));
  show_error("shape", [&] { torch::linalg_eigh(leaf({3, 2}, 0)); });
  show_error("triangle", [&] { torch::linalg_eigh(symmetric({3, 3}, 0), "X"); });
}

CASE(svd) {
  for (const auto& sizes :
       std::vector<std::vector<std::int64_t>>{{3, 3}, {5, 3}, {3, 5}, {2, 4, 3}}) {
    const auto a = regular(sizes, 0);
    const std::string name = std::to_string(sizes.size()) + "d " + std::to_string(sizes[0]);
    show_gradients(name + " values", torch::linalg_svdvals(a), {a});
    const auto [u, s, vh] = torch::linalg_svd(a, false);
    show_gradients(name + " U", u * u, {a});
    const auto [u2, s2, vh2] = torch::linalg_svd(a, false);
    show_gradients(name + " V", vh2 * vh2, {a});
    const auto [u3, s3, v3] = torch::svd(a);
    show_gradients(name + " S", s3, {a});
    show(name + " product", (u3 * s3.unsqueeze(-2)).matmul(v3.transpose(-2, -1)));
    const auto [u4, s4, vh4] = torch::linalg_svd(a.detach());
    show(name + " full", u4.transpose(-2, -1).matmul(u4).round().abs() + 0);
    show(name + " full V", vh4.matmul(vh4.transpose(-2, -1)).round().abs());
  }
  show("deficient", torch::linalg_svdvals(torch::ones({3, 4}, torch::kDouble)).round());
  show_error("shape", [&] { torch::linalg_svdvals(leaf({3}, 0)); });
}

CASE(pinv) {
  const auto a = regular({4, 3}, 0), x = regular({2, 3, 5}, 1), s = symmetric({3, 3}, 2);
  show_gradients("tall", torch::linalg_pinv(a), {a});
  show_gradients("wide", torch::linalg_pinv(x), {x});
  show_gradients("rcond", torch::linalg_pinv(a, 0.3), {a});
  show_gradients("hermitian", torch::linalg_pinv(s, 1e-10, true), {s});
  show_gradients("pinverse", torch::pinverse(a), {a});
  show_gradients("method", x.pinverse(), {x});
  show("deficient", torch::linalg_pinv(torch::ones({2, 3}, torch::kDouble)));
  show("rank", torch::linalg_matrix_rank(x));
  show("rank deficient", torch::linalg_matrix_rank(torch::ones({3, 3}, torch::kDouble)));
  show("rank tol", torch::linalg_matrix_rank(a, 1.0));
  show("rank hermitian", torch::linalg_matrix_rank(s, 1e-8, true));
  const auto b = leaf({4, 2}, 3);
  show_gradients("lstsq", std::get<0>(torch::linalg_lstsq(a, b)), {a, b});
  const auto [solution, residuals, rank, values] =
      torch::linalg_lstsq(a.detach(), b.detach(), torch::nullopt, "gelsd");
  show("gelsd", solution);
  show("gelsd residuals", residuals);
  show("gelsd rank", rank);
  show("gelsd values", values);
  const auto [solution2, residuals2, rank2, values2] = torch::linalg_lstsq(a.detach(), b.detach());
  show("gelsy residuals", residuals2);
  show("gelsy rank", rank2);
  const auto [solution3, residuals3, rank3, values3] =
      torch::linalg_lstsq(a.detach(), b.detach(), torch::nullopt, "gels");
  show("gels residuals", residuals3);
  show("gels rank", rank3);
  show("wide", std::get<0>(torch::linalg_lstsq(x.detach(), leaf({2, 3, 1}, 4).detach())));
  show_error("driver", [&] { torch::linalg_lstsq(a, b, torch::nullopt, "other"); });
  show_error("rows", [&] { torch::linalg_lstsq(a, leaf({3, 2}, 1)); });
}

CASE(second_derivatives) {
  const auto show_second = [](const std::string& name, const torch::Tensor& a,
                              const auto& function) {
    const torch::Tensor result = function(a);
    const auto slope =
        torch::autograd::grad({(result * filled(result.sizes(), 4)).sum()}, {a}, {}, true, true)[0];
    show_gradients(name, slope, {a});
  };
  const auto a = regular({3, 3}, 0), tall = regular({4, 3}, 1), p = positive({3, 3}, 2),
             s = symmetric({3, 3}, 3);
  const auto b = filled({3, 2}, 5);
  show_second("solve", a, [&](const auto& x) { return torch::linalg_solve(x, b); });
  show_second("det", a, [](const auto& x) { return torch::det(x); });
  show_second("logdet", p, [](const auto& x) { return torch::logdet(x); });
  show_second("lu", tall, [](const auto& x) { return std::get<0>(torch::linalg_lu_factor(x)); });
  show_second("triangular", a,
              [&](const auto& x) { return torch::linalg_solve_triangular(x, b, true); });
  show_second("cholesky", p, [](const auto& x) { return torch::linalg_cholesky(x); });
  show_second("Q", tall, [](const auto& x) { return std::get<0>(torch::linalg_qr(x)); });
  show_second("R", tall, [](const auto& x) { return std::get<1>(torch::linalg_qr(x)); });
  show_second("eigenvalues", s, [](const auto& x) { return torch::linalg_eigvalsh(x); });
  show_second("singular values", tall, [](const auto& x) { return torch::linalg_svdvals(x); });
  show_second("pinv", tall, [](const auto& x) { return torch::linalg_pinv(x); });
  show_second("matrix_exp", a, [](const auto& x) { return torch::matrix_exp(x); });
  show_second("einsum", a, [](const auto& x) { return torch::einsum("ij,jk,ki->i", {x, x, x}); });
  show_second("logcumsumexp", tall, [](const auto& x) { return torch::logcumsumexp(x, 0); });
  show_second("cdist", tall, [](const auto& x) { return torch::cdist(x, filled({2, 3}, 6)); });
}
