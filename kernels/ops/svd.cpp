// svd: A = U S V^T by one-sided Jacobi rotations: the columns of A (of its transpose where it is
// wide) are turned in pairs until all are orthogonal; their lengths are the singular values. Signs
// are free, so tests/agreement has the tests, on what does not depend on them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

enum { kFull };
enum { kU, kS, kV, kInfo };
constexpr int kSweeps = 60;

void turn(Matrix& a, std::int64_t p, std::int64_t q, double c, double s) {
  for (std::int64_t k = 0; k < a.rows; ++k) {
    const double left = a(k, p), right = a(k, q);
    a(k, p) = c * left - s * right;
    a(k, q) = s * left + c * right;
  }
}

// Columns `from` on: unit vectors orthogonal to all before, from the axes by Gram and Schmidt.
void complete(Matrix& u, std::int64_t from) {
  for (std::int64_t axis = 0; axis < u.rows && from < u.columns; ++axis) {
    std::vector<double> column(static_cast<std::size_t>(u.rows), 0.0);
    column[static_cast<std::size_t>(axis)] = 1;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < from; ++j) {
        double product = 0;
        for (std::int64_t i = 0; i < u.rows; ++i)
          product += u(i, j) * column[static_cast<std::size_t>(i)];
        for (std::int64_t i = 0; i < u.rows; ++i)
          column[static_cast<std::size_t>(i)] -= product * u(i, j);
      }
    }
    double length = 0;
    for (const double x : column) length += x * x;
    // what is left of all axes together is the number of columns missing
    if (length < 0.5 / static_cast<double>(u.rows)) continue;
    for (std::int64_t i = 0; i < u.rows; ++i)
      u(i, from) = column[static_cast<std::size_t>(i)] / std::sqrt(length);
    ++from;
  }
}

void decompose(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  for (const double value : inputs[0].values)
    if (!std::isfinite(value)) outputs[kInfo](0, 0) = 1;
  if (outputs[kInfo](0, 0) != 0) return;
  const bool is_wide = inputs[0].rows < inputs[0].columns;
  Matrix a = is_wide ? transposed(inputs[0]) : inputs[0];
  const std::int64_t n = a.columns;
  Matrix turns = unit(n, n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool is_done = true;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        double left = 0, right = 0, product = 0;
        for (std::int64_t k = 0; k < a.rows; ++k) {
          left += a(k, p) * a(k, p);
          right += a(k, q) * a(k, q);
          product += a(k, p) * a(k, q);
        }
        if (std::fabs(product) <= 1e-16 * std::sqrt(left * right) || product == 0) continue;
        is_done = false;
        const double theta = (right - left) / (2 * product);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        turn(a, p, q, c, t * c);
        turn(turns, p, q, c, t * c);
      }
    }
    if (is_done) break;
  }
  std::vector<double> lengths;
  for (std::int64_t j = 0; j < n; ++j) {
    double squares = 0;
    for (std::int64_t k = 0; k < a.rows; ++k) squares += a(k, j) * a(k, j);
    lengths.push_back(std::sqrt(squares));
  }
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
  // the long side's vectors are the turned columns, the short side's the turns themselves
  Matrix &wide_side = outputs[is_wide ? kV : kU], &short_side = outputs[is_wide ? kU : kV];
  std::int64_t rank = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::size_t from = order[static_cast<std::size_t>(j)];
    const auto column = static_cast<std::int64_t>(from);
    outputs[kS](0, j) = lengths[from];
    for (std::int64_t i = 0; i < n; ++i) short_side(i, j) = turns(i, column);
    // columns of hardly any length have no direction of their own
    if (lengths[from] <= 1e-15 * lengths[order[0]]) continue;
    for (std::int64_t i = 0; i < a.rows; ++i) wide_side(i, j) = a(i, column) / lengths[from];
    rank = j + 1;
  }
  complete(wide_side, rank);
  settle_signs(outputs[kU], &outputs[kV]);
}

// With X = U^T dU and Y = V^T dV less their mirror images, divided by the gaps of squares.
Tensor gradient(const Grad& g) {
  const Shape& sizes = g.input_types[0].sizes;
  const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  const std::int64_t k = std::min(rows, columns);
  const auto first = [k](const Tensor& x) { return x.defined() ? narrow(x, -1, 0, k) : x; };
  const Tensor u = first(g.output(kU)), &s = g.output(kS), v = first(g.output(kV));
  const Tensor grad_u = first(g.cotangents[kU]), grad_v = first(g.cotangents[kV]);
  const Tensor squares = square(s), row = unsqueeze(s, -2), column = unsqueeze(s, -1);
  const Tensor gaps = unsqueeze(squares, -2) - unsqueeze(squares, -1);
  const auto turned = [&gaps](const Tensor& vectors, const Tensor& grad) {
    const Tensor whole = matmul(mirrored(vectors), grad);
    return divided_by_gaps(whole - mirrored(whole), gaps);
  };
  Tensor inner;
  const auto add_inside = [&inner](const Tensor& x) { inner = inner.defined() ? inner + x : x; };
  if (grad_u.defined()) add_inside(turned(u, grad_u) * row);
  if (grad_v.defined()) add_inside(turned(v, grad_v) * column);
  if (g.cotangents[kS].defined()) add_inside(on_diagonal(g.cotangents[kS]));
  Tensor result = matmul(u, matmul(inner, mirrored(v)));
  // what leaves the space that the vectors span
  if (grad_u.defined() && rows > k) {
    const Tensor outside = grad_u - matmul(u, matmul(mirrored(u), grad_u));
    result = result + matmul(outside / row, mirrored(v));
  }
  if (grad_v.defined() && columns > k) {
    const Tensor outside = grad_v - matmul(v, matmul(mirrored(v), grad_v));
    result = result + matmul(u, mirrored(outside / row));
  }
  return result;
}

const Op& op = define({
    .name = "svd",
    .kind = OpKind::kOpaque,
    .outputs = 4,
    .attributes = {{"full", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("svd", s.inputs[0], false);
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
      const std::int64_t k = std::min(rows, columns);
      const bool is_full = s.attr().boolean(kFull);
      const ScalarType dtype = s.inputs[0].dtype;
      return {{{dtype, batch_with(sizes, {rows, is_full ? rows : k})},
               {dtype, batch_with(sizes, {k})},
               {dtype, batch_with(sizes, {columns, is_full ? columns : k})},
               {kInt, batch_with(sizes, {})}},
              dtype};
    },
    .lowering = matrix_lowering(decompose),
    .gradient =
        [](const Grad& g) {
          for (int k : {kU, kS, kV})
            if (g.cotangents[static_cast<std::size_t>(k)].defined()) return Tensors{gradient(g)};
          return Tensors(1);
        },
    .saves_outputs = 7,
    .has_inplace = false,
});

struct Singular {
  Tensor u, s, v;
};
Singular decomposed(const char* name, const Tensor& a, bool is_full) {
  checked_matrices(name, a, false);
  const Tensors outputs = call_all(op, a, Attrs().add(is_full));
  return {outputs[kU], verified(outputs[kS], outputs[kInfo], Refusal::kNotConverged), outputs[kV]};
}

}  // namespace

Tensor singular_values(const char* name, const Tensor& a) { return decomposed(name, a, false).s; }

std::tuple<Tensor, Tensor, Tensor> linalg_svd(Arg A, bool full_matrices,
                                              std::optional<std::string_view>) {
  const SiteScope scope(A.site);
  const Singular found = decomposed("linalg_svd", *A.tensor, full_matrices);
  return {found.u, found.s, mirrored(found.v)};
}
Tensor linalg_svdvals(Arg A, std::optional<std::string_view>) {
  const SiteScope scope(A.site);
  return singular_values("linalg_svdvals", *A.tensor);
}
std::tuple<Tensor, Tensor, Tensor> svd(Arg self, bool some, bool compute_uv) {
  const SiteScope scope(self.site);
  const Singular found = decomposed("svd", *self.tensor, !some);
  if (compute_uv) return {found.u, found.s, found.v};
  const Type type = type_of(*self.tensor);
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  const TensorOptions options(type.dtype);
  return {zeros(batch_with(type.sizes, {rows, rows}), options), found.s,
          zeros(batch_with(type.sizes, {columns, columns}), options)};
}
std::tuple<Tensor, Tensor, Tensor> LinearAlgebraMethods::svd(bool some, bool compute_uv,
                                                             Site site) const {
  return groove::svd({self(), site}, some, compute_uv);
}

}  // namespace groove
