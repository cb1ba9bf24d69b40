// qr: A = Q R by Householder's reflections, each of which turns a column onto its axis, away from
// the sign of the element there (as LAPACK does).
#include <cmath>

#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kComplete };
enum { kQ, kR };

void factor(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  Matrix columns = transposed(inputs[0]);
  const double unit_size = lines::normalise(columns);
  const std::vector<double> scales = lines::triangularise(columns);
  Matrix& r = outputs[kR];
  for (std::int64_t i = 0; i < r.rows; ++i)
    for (std::int64_t j = i; j < r.columns; ++j) r(i, j) = columns(j, i) * unit_size;
  Matrix q = unit(outputs[kQ].columns, outputs[kQ].rows);
  lines::turn_back(columns, scales, 0, q, lines::Start::kUnit);
  outputs[kQ] = transposed(q);
}

// With whole reflections, I - 2 v v^T.
void reference(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  Matrix r = inputs[0], q = unit(r.rows, r.rows);
  for (std::int64_t k = 0; k < std::min(r.rows - 1, r.columns); ++k) {
    std::vector<double> v(static_cast<std::size_t>(r.rows), 0.0);
    double squares = 0;
    for (std::int64_t i = k; i < r.rows; ++i) {
      v[static_cast<std::size_t>(i)] = r(i, k);
      squares += r(i, k) * r(i, k);
    }
    double& first = v[static_cast<std::size_t>(k)];
    first += std::copysign(std::sqrt(squares), first);
    double length = 0;
    for (const double x : v) length += x * x;
    Matrix reflection = unit(r.rows, r.rows);
    for (std::int64_t i = 0; i < r.rows; ++i)
      for (std::int64_t j = 0; j < r.rows; ++j)
        reflection(i, j) -=
            2 * v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)] / length;
    r = lines::product(reflection, r);
    q = lines::product(q, reflection);
  }
  Matrix &own_q = outputs[kQ], &own_r = outputs[kR];
  for (std::int64_t i = 0; i < own_q.rows; ++i)
    for (std::int64_t j = 0; j < own_q.columns; ++j) own_q(i, j) = q(i, j);
  for (std::int64_t i = 0; i < own_r.rows; ++i)
    for (std::int64_t j = i; j < own_r.columns; ++j) own_r(i, j) = r(i, j);
}

// Q and a square R: the strict triangles of M = R dR^T - dQ^T Q are equal but for the side.
Tensor square_gradient(const Tensor& q, const Tensor& r, const Tensor& grad_q,
                       const Tensor& grad_r) {
  Tensor whole;
  if (grad_r.defined()) whole = matmul(r, mirrored(grad_r));
  if (grad_q.defined()) {
    const Tensor turned = matmul(mirrored(grad_q), q);
    whole = whole.defined() ? whole - turned : neg(turned);
  }
  const Tensor symmetric = tril(whole) + mirrored(tril(whole, -1));
  Tensor sides = matmul(q, symmetric);
  if (grad_q.defined()) sides = sides + grad_q;
  return linalg_solve_triangular(mirrored(r), sides, false, false);
}

Tensor gradient(const Grad& g) {
  const Tensor &q = g.output(kQ), &r = g.output(kR);
  const Tensor &grad_q = g.cotangents[kQ], &grad_r = g.cotangents[kR];
  const Shape& sizes = g.input_types[0].sizes;
  const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  GROOVE_CHECK(!g.attr().boolean(kComplete) || rows <= columns,
               "linalg_qr: the complete Q of more rows than columns has no gradient; use mode "
               "\"reduced\"");
  if (rows >= columns) return square_gradient(q, r, grad_q, grad_r);
  // A = [X Y] and R = [U V]: Q and U are those of X, and Y = Q V
  const Tensor u = narrow(r, -1, 0, rows);
  Tensor own_q = grad_q, grad_u, grad_y;
  if (grad_r.defined()) {
    const Tensor grad_v = narrow(grad_r, -1, rows, columns - rows);
    const Tensor y = matmul(q, narrow(r, -1, rows, columns - rows));
    const Tensor through_y = matmul(y, mirrored(grad_v));
    own_q = own_q.defined() ? own_q + through_y : through_y;
    grad_u = narrow(grad_r, -1, 0, rows);
    grad_y = matmul(q, grad_v);
  } else {
    grad_y = zeros(batch_with(sizes, {rows, columns - rows}), TensorOptions(type_of(q).dtype));
  }
  return cat({square_gradient(q, u, own_q, grad_u), grad_y}, -1);
}

const Op& op = define({
    .name = "qr",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"complete", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("qr", s.inputs[0], false);
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
      const std::int64_t kept = s.attr().boolean(kComplete) ? rows : std::min(rows, columns);
      const ScalarType dtype = s.inputs[0].dtype;
      return {
          {{dtype, batch_with(sizes, {rows, kept})}, {dtype, batch_with(sizes, {kept, columns})}},
          dtype};
    },
    .lowering = matrix_lowering(factor),
    .gradient =
        [](const Grad& g) {
          const bool is_needed = g.cotangents[kQ].defined() || g.cotangents[kR].defined();
          return is_needed ? Tensors{gradient(g)} : Tensors(1);
        },
    .saves_outputs = 3,
    .has_inplace = false,
    .reference = matrix_reference(reference),
    .domain = {0.5, 2},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {2, 2}}}, Attrs().add(false), {}},
                                     {{{dtype, {5, 3}}}, Attrs().add(false), {}},
                                     {{{dtype, {2, 3, 3}}}, Attrs().add(false), {}},
                                     {{{dtype, {3, 5}}}, Attrs().add(true), {}},
                                     {{{dtype, {2, 5}}}, Attrs().add(false), {}},
                                     {{{dtype, {0, 2, 2}}}, Attrs().add(false), {}}};
        },
    .tolerance_ulp = 4096,
});

std::tuple<Tensor, Tensor> factored(const char* name, const Tensor& a, bool is_complete) {
  checked_matrices(name, a, false);
  const Tensors outputs = call_all(op, a, Attrs().add(is_complete));
  return {outputs[kQ], outputs[kR]};
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(Arg A, std::string_view mode) {
  const SiteScope scope(A.site);
  GROOVE_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
               "linalg_qr: mode \"{}\"; it must be \"reduced\", \"complete\" or \"r\"", mode);
  const auto [q, r] = factored("linalg_qr", *A.tensor, mode == "complete");
  if (mode == "r") return {empty({0}, TensorOptions(type_of(r).dtype)), r};
  return {q, r};
}
std::tuple<Tensor, Tensor> qr(Arg self, bool some) {
  const SiteScope scope(self.site);
  return factored("qr", *self.tensor, !some);
}
std::tuple<Tensor, Tensor> LinearAlgebraMethods::qr(bool some, Site site) const {
  return groove::qr({self(), site}, some);
}

}  // namespace groove
