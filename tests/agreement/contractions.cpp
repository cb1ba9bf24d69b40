// Products of tensors, powers of matrices, distances and norms.
#include "cases.h"

#include <cmath>

using namespace agreement;

// Without rows that are sums of others, and without equal sums.
static torch::Tensor regular(torch::IntArrayRef sizes, std::int64_t j) {
  const auto x = filled(sizes, j);
  return (x * x * 0.7 + x * 0.5 + torch::eye(sizes[sizes.size() - 2], sizes.back(), torch::kDouble))
      .detach()
      .requires_grad_();
}

CASE(einsum) {
  const auto a = leaf({3, 4}, 0), b = leaf({4, 5}, 1), c = leaf({5, 2}, 2);
  const auto x = leaf({2, 3, 4}, 3), y = leaf({2, 4, 3}, 4), v = leaf({3}, 5),
             square = leaf({3, 3}, 6);
  show_gradients("product", torch::einsum("ij,jk->ik", {a, b}), {a, b});
  show_gradients("implicit", torch::einsum("ij, jk", {a, b}), {a, b});
  show_gradients("chain", torch::einsum("ij,jk,kl->il", {a, b, c}), {a, b, c});
  show_gradients("path", torch::einsum("ij,jk,kl->il", {a, b, c}, torch::IntArrayRef({1, 2, 0, 1})),
                 {a, b, c});
  show_gradients("batch", torch::einsum("bij,bjk->bik", {x, y}), {x, y});
  show_gradients("dots", torch::einsum("...ij,...jk->...ik", {x, b}), {x, b});
  show_gradients("dots implicit", torch::einsum("...ij,...jk", {x, y}), {x, y});
  show_gradients("trace", torch::einsum("ii", {square}), {square});
  show_gradients("diagonal", torch::einsum("ii->i", {square}), {square});
  show_gradients("diagonals", torch::einsum("ii,ij->j", {square, a}), {square, a});
  show_gradients("transpose", torch::einsum("ba", {a}), {a});
  show_gradients("sum", torch::einsum("ij->", {a}), {a});
  show_gradients("outer", torch::einsum("i,j->ij", {v, v}), {v});
  show_gradients("mixed", torch::einsum("bij,bji,i->b", {x, y, v}), {x, y, v});
  show_gradients("elementwise", torch::einsum("ij,ij->ij", {a, a}), {a});
  const auto one = leaf({1, 4}, 7);
  show_gradients("size 1", torch::einsum("ij,ij->i", {a, one}), {a, one});
  show_gradients("sum dots", torch::einsum("...j->j", {x}), {x});
  show("upper", torch::einsum("Aa,aB", {a, b}));
  show_error("count", [&] { torch::einsum("ij,jk->ik", {a}); });
  show_error("axes", [&] { torch::einsum("ijk->i", {a}); });
  show_error("sizes", [&] { torch::einsum("ij,jk->ik", {a, c}); });
  show_error("result", [&] { torch::einsum("ij->k", {a}); });
  show_error("letter", [&] { torch::einsum("i1->i", {a}); });
  show_error("square", [&] { torch::einsum("ii->i", {a}); });
}

CASE(tensordot) {
  const auto a = leaf({2, 3, 4}, 0), b = leaf({4, 3, 5}, 1), v = leaf({4}, 2), w = leaf({2, 4}, 3);
  show_gradients("two", torch::tensordot(a, b, {1, 2}, {1, 0}), {a, b});
  show_gradients("one", torch::tensordot(a, b, {-1}, {0}), {a, b});
  show_gradients("none", torch::tensordot(v, w, {}, {}), {v, w});
  show_gradients("inner", torch::inner(a, w), {a, w});
  show_gradients("inner method", v.inner(v), {v});
  show_gradients("inner number", torch::inner(v, torch::tensor(2.0, torch::kDouble)), {v});
  show_gradients("vdot", torch::vdot(v, v.detach() * 2), {v});
  show_gradients("kron", torch::kron(w, leaf({3, 2}, 4)), {w});
  show("kron ranks", torch::kron(v, w));
  show_error("count", [&] { torch::tensordot(a, b, {1, 2}, {1}); });
  show_error("sizes", [&] { torch::tensordot(a, b, {0}, {0}); });
  show_error("inner sizes", [&] { torch::inner(a, b); });
}

CASE(cross) {
  const auto a = leaf({2, 3}, 0), b = leaf({2, 3}, 1), c = leaf({3, 2}, 2);
  show_gradients("last", torch::cross(a, b), {a, b});
  show_gradients("first", torch::cross(c, c.detach() + 1), {c});
  show_gradients("method", a.cross(b, 1), {a, b});
  show_gradients("linalg", torch::linalg_cross(a, b), {a, b});
  show_gradients("broadcast", torch::linalg_cross(a, leaf({1, 3}, 5)), {a});
  show_error("size", [&] { torch::linalg_cross(c, c); });
}

CASE(added_products) {
  const auto m = leaf({3, 4}, 0), v = leaf({4}, 1), u = leaf({3}, 2), x = leaf({2, 3, 4}, 3),
             y = leaf({2, 4, 5}, 4), s = leaf({3, 5}, 5), t = leaf({2, 3, 5}, 6),
             n = leaf({4, 5}, 7);
  show_gradients("addmv", torch::addmv(u, m, v, 0.5, 2), {u, m, v});
  show_gradients("addmv method", u.addmv(m, v), {u, m, v});
  show_gradients("addr", torch::addr(m, u, v, 2, 0.5), {m, u, v});
  show_gradients("addr method", m.addr(u, v), {m, u, v});
  show_gradients("addbmm", torch::addbmm(s, x, y, 0.5, 2), {s, x, y});
  show_gradients("addbmm method", s.addbmm(x, y), {s, x, y});
  show_gradients("baddbmm", torch::baddbmm(t, x, y, 0.5, 2), {t, x, y});
  show_gradients("baddbmm broadcast", s.baddbmm(x, y, 2), {s, x, y});
  show_gradients("addmm", s.addmm(m, n, 0.5, 2), {s, m, n});
  show("beta 0", torch::addmv(torch::full({3}, NAN, torch::kDouble), m, v, 0));
  auto own = (s * 1), own_t = t * 1, own_u = u * 1, own_m = m * 1;
  show_gradients("addmm_", own.addmm_(m, n, 0.5), {s, m, n});
  show_gradients("baddbmm_", own_t.baddbmm_(x, y), {t, x, y});
  show_gradients("addmv_", own_u.addmv_(m, v), {u, m, v});
  show_gradients("addr_", own_m.addr_(u, v, 1, 2), {m, u, v});
  own = s * 1;
  show_gradients("addbmm_", own.addbmm_(x, y), {s, x, y});
  show_gradients("ger", torch::ger(u, v), {u, v});
  show_gradients("outer", u.outer(v), {u, v});
  show_error("addmv shapes", [&] { torch::addmv(u, m, u); });
  show_error("baddbmm shapes", [&] { torch::baddbmm(t, y, x); });
}

CASE(chains) {
  const auto a = leaf({2, 7}, 0), b = leaf({7, 3}, 1), c = leaf({3, 5}, 2), v = leaf({5}, 3),
             u = leaf({2}, 4);
  show_gradients("chain_matmul", torch::chain_matmul({a, b, c}), {a, b, c});
  show_gradients("multi_dot", torch::linalg_multi_dot({a, b, c}), {a, b, c});
  show_gradients("multi_dot vectors", torch::linalg_multi_dot({u, a, b, c, v}), {a, b, c, u, v});
  show_error("one", [&] { torch::linalg_multi_dot({a}); });
  const auto square = regular({3, 3}, 5), batch = regular({2, 3, 3}, 6);
  show_gradients("power 5", torch::matrix_power(square, 5), {square});
  show_gradients("power 2", batch.matrix_power(2), {batch});
  show_gradients("power -2", torch::linalg_matrix_power(square, -2), {square});
  show("power 0", torch::matrix_power(batch, 0));
  show_gradients("exp", torch::matrix_exp(square), {square});
  show_gradients("exp batch", (batch * 3).matrix_exp(), {batch});
  show_gradients("trace", square.trace(), {square});
  show_gradients("diagonal", torch::linalg_diagonal(batch, 1), {batch});
  show_gradients("vecdot", torch::linalg_vecdot(a, a.detach() + 1), {a});
  show_error("power shape", [&] { torch::matrix_power(a, 2); });
  show_error("exp shape", [&] { torch::matrix_exp(a); });
}

CASE(distances) {
  const auto a = leaf({3, 4}, 0), b = leaf({5, 4}, 1), x = leaf({2, 3, 4}, 2);
  for (const double p : {0.0, 1.0, 2.0, 3.0, double{INFINITY}}) {
    const std::string name = "p " + std::to_string(p);
    if (p > 0) show_gradients("dist " + name, torch::dist(a, a.detach() * 0.5, p), {a});
    show_gradients("cdist " + name, torch::cdist(a, b, p), {a, b});
    show_gradients("pdist " + name, torch::pdist(a, p), {a});
  }
  show_gradients("cdist batch", torch::cdist(x, b), {x, b});
  show_gradients("cdist product", torch::cdist(a, b, 2, 1), {a, b});
  show("cdist self", torch::cdist(a, a));
  show_gradients("dist method", a.dist(b.narrow(0, 0, 3)), {a, b});
  show_error("cdist", [&] { torch::cdist(a, leaf({3, 5}, 3)); });
  show_error("pdist", [&] { torch::pdist(x); });
}

CASE(linalg_norms) {
  const auto a = regular({3, 4}, 0), x = regular({2, 3, 4}, 1);
  for (const double p : {0.0, 1.0, 2.0, 3.0, -1.0, double{INFINITY}, -double{INFINITY}}) {
    const std::string name = std::to_string(p);
    if (p == 0) {
      show("vector 0", torch::linalg_vector_norm(x, p, torch::IntArrayRef({1}), true));
      continue;
    }
    show_gradients("vector " + name, torch::linalg_vector_norm(a, p), {a});
    show_gradients("vector dim " + name,
                   torch::linalg_vector_norm(x, p, torch::IntArrayRef({1}), true), {x});
  }
  for (const double p : {1.0, -1.0, 2.0, -2.0, double{INFINITY}, -double{INFINITY}}) {
    const std::string name = std::to_string(p);
    show_gradients("matrix " + name, torch::linalg_matrix_norm(x, p), {x});
    show_gradients("matrix dims " + name, torch::linalg_matrix_norm(x, p, {0, 2}, true), {x});
    show_gradients("norm " + name, torch::linalg_norm(a, p), {a});
  }
  show_gradients("fro", torch::linalg_matrix_norm(x, "fro"), {x});
  show_gradients("fro default", torch::linalg_matrix_norm(x), {x});
  show_gradients("nuc", torch::linalg_matrix_norm(x, "nuc", {-2, -1}, true), {x});
  show_gradients("norm", torch::linalg_norm(x), {x});
  show_gradients("norm dim", torch::linalg_norm(x, torch::nullopt, torch::IntArrayRef({1, 2})),
                 {x});
  show_gradients("norm fro", torch::linalg_norm(a, "fro"), {a});
  show_gradients("nuclear_norm", torch::nuclear_norm(a), {a});
  show_gradients("nuclear_norm dim", torch::nuclear_norm(x, {0, 1}), {x});
  show_gradients("frobenius_norm", torch::frobenius_norm(x, {0, 1}), {x});
  show("dtype", torch::linalg_vector_norm(a.detach().to(torch::kFloat), 2, torch::nullopt, false,
                                          torch::kDouble));
  const auto square = regular({2, 3, 3}, 4);
  show_gradients("cond", torch::linalg_cond(square), {square});
  show("cond 1", torch::linalg_cond(square.detach(), 1));
  show_gradients("cond -2", torch::linalg_cond(a, -2), {a});
  show("cond fro", torch::linalg_cond(square.detach(), "fro"));
  show_error("order", [&] { torch::linalg_matrix_norm(a, 3); });
  show_error("axes", [&] { torch::linalg_matrix_norm(a, 1, {0, 0}); });
  show_error("integers", [&] { torch::linalg_vector_norm(torch::arange(3)); });
  show_error("three axes", [&] { torch::linalg_norm(x, 1); });
}
