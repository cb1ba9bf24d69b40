// svd: A = U S V^T by Golub and Kahan: reflections from both sides to upper bidiagonal form, and
// implicit QR steps on that (Golub and Van Loan, Matrix Computations, 5.4.8 and 8.6), of the
// transpose where A is wide. Signs are free, so tests/agreement has the tests, on what does not
// depend on them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/ops/matrix_lines.h"
#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

enum { kFull };
enum { kU, kS, kV, kInfo };

// B = U^T A V, with columns of U and V as lines.
class Bidiagonal : lines::TwoDiagonals {
 public:
  // Takes a, which has as many rows as columns at least, apart; `count` columns of U are wanted.
  Bidiagonal(Matrix a, std::int64_t count) : TwoDiagonals(a.columns), u_(unit(count, a.rows)) {
    Matrix left(n_, a.rows);
    std::vector<double> left_scales, right_scales, w(size(n_));
    for (std::int64_t k = 0; k < n_; ++k) {
      for (std::int64_t i = k; i < a.rows; ++i) left(k, i) = a(i, k);
      left_scales.push_back(lines::reflect_onto_axis(&left(k, k), a.rows - k));
      diagonal_[size(k)] = left(k, k);
      if (k + 1 == n_) break;
      if (left_scales.back() != 0) reflect_columns(a, k, &left(k, k), left_scales.back(), w.data());
      right_scales.push_back(lines::reflect_onto_axis(&a(k, k + 1), n_ - k - 1));
      beside_[size(k)] = a(k, k + 1);
      if (right_scales.back() == 0) continue;
      for (std::int64_t i = k + 1; i < a.rows; ++i)
        lines::reflect(&a(k, k + 1), right_scales.back(), &a(i, k + 1), n_ - k - 1);
    }
    v_ = unit(n_, n_);
    lines::turn_back(left, left_scales, 0, u_, lines::Start::kUnit);
    lines::turn_back(a, right_scales, 1, v_, lines::Start::kUnit);
  }

  // False when it does not converge.
  bool run() {
    const auto next = [this](std::int64_t first, std::int64_t last, int steps) {
      if (!clear_around_zero(first, last, steps)) step(first, last);
    };
    if (!shrink(next)) return false;
    for (std::int64_t k = 0; k < n_; ++k) {
      if (diagonal_[size(k)] >= 0) continue;
      diagonal_[size(k)] = -diagonal_[size(k)];
      for (std::int64_t i = 0; i < n_; ++i) v_(k, i) = -v_(k, i);
    }
    return true;
  }

  const std::vector<double>& values() const { return diagonal_; }
  const Matrix& u() const { return u_; }
  const Matrix& v() const { return v_; }

 private:
  // The columns behind k, which v turns.
  static void reflect_columns(Matrix& a, std::int64_t k, const double* v, double scale, double* w) {
    const std::int64_t n = a.columns - k - 1;
    std::copy_n(&a(k, k + 1), n, w);
    for (std::int64_t i = k + 1; i < a.rows; ++i) lines::add_scaled(w, v[i - k], &a(i, k + 1), n);
    for (std::int64_t j = 0; j < n; ++j) w[j] *= scale;
    lines::add_scaled(&a(k, k + 1), -1, w, n);
    for (std::int64_t i = k + 1; i < a.rows; ++i) lines::add_scaled(&a(i, k + 1), -v[i - k], w, n);
  }

  void turn_u(const lines::Rotation& by, std::int64_t i, std::int64_t j) {
    lines::rotate(by, &u_(i, 0), &u_(j, 0), u_.columns);
  }
  void turn_v(const lines::Rotation& by, std::int64_t i, std::int64_t j) {
    lines::rotate(by, &v_(i, 0), &v_(j, 0), v_.columns);
  }

  // Where the diagonal is 0, its row can be made 0, too, or the column at the end; false: nowhere.
  bool clear_around_zero(std::int64_t first, std::int64_t last, int steps) {
    const double bound = steps < kFewSteps ? lines::kNothing : kEpsilon * norm_;
    std::int64_t zero = last;
    while (zero >= first && std::fabs(diagonal_[size(zero)]) > bound) --zero;
    if (zero < first) return false;
    diagonal_[size(zero)] = 0;
    if (zero == last) {
      double left = std::exchange(beside_[size(last - 1)], 0);
      for (std::int64_t k = last - 1; k >= first; --k) {
        const lines::Rotation by = lines::rotation_of(diagonal_[size(k)], left);
        diagonal_[size(k)] = by.radius;
        turn_v(by, k, last);
        if (k == first) break;
        left = -by.s * beside_[size(k - 1)];
        beside_[size(k - 1)] *= by.c;
      }
      return true;
    }
    double left = std::exchange(beside_[size(zero)], 0);
    for (std::int64_t k = zero + 1; k <= last; ++k) {
      const lines::Rotation by = lines::rotation_of(diagonal_[size(k)], left);
      diagonal_[size(k)] = by.radius;
      turn_u(by, k, zero);
      if (k == last) break;
      left = -by.s * beside_[size(k)];
      beside_[size(k)] *= by.c;
    }
    return true;
  }

  // The lesser singular value of the last two rows and columns, from the sum and the difference of
  // both: their squares are (|a| +- |d|)^2 + b^2 of [a b; 0 d].
  double shift_of(std::int64_t last) const {
    const double a = std::fabs(diagonal_[size(last - 1)]), d = std::fabs(diagonal_[size(last)]);
    const double b = beside_[size(last - 1)];
    return a / ((lines::hypotenuse(a + d, b) + lines::hypotenuse(a - d, b)) / 2) * d;
  }

  void step(std::int64_t first, std::int64_t last) {
    const double start = diagonal_[size(first)], shift = shift_of(last);
    const double ratio = shift / std::fabs(start);
    double x = start, bulge = beside_[size(first)];
    if (ratio * ratio > kEpsilon)
      x = std::copysign((std::fabs(start) - shift) * (1 + ratio), start);
    for (std::int64_t k = first; k < last; ++k) {
      double &own = diagonal_[size(k)], &next = diagonal_[size(k + 1)], &b = beside_[size(k)];
      const lines::Rotation right = lines::rotation_of(x, bulge);
      if (k > first) beside_[size(k - 1)] = right.radius;
      x = right.c * own + right.s * b;
      b = right.c * b - right.s * own;
      bulge = right.s * next;
      next *= right.c;
      turn_v(right, k, k + 1);
      const lines::Rotation left = lines::rotation_of(x, bulge);
      own = left.radius;
      x = left.c * b + left.s * next;
      next = left.c * next - left.s * b;
      b = x;
      turn_u(left, k, k + 1);
      if (k + 1 == last) break;
      bulge = left.s * beside_[size(k + 1)];
      beside_[size(k + 1)] *= left.c;
    }
  }

  Matrix u_, v_;
};

void decompose(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  double& info = outputs[kInfo](0, 0);
  for (const double value : inputs[0].values)
    if (!std::isfinite(value)) info = 1;
  if (info != 0) return;
  const bool is_wide = inputs[0].rows < inputs[0].columns;
  Matrix a = is_wide ? transposed(inputs[0]) : inputs[0];
  const std::int64_t n = a.columns, count = outputs[is_wide ? kV : kU].columns;
  const double scale = lines::normalise(a);
  // where it is long, of R in its place
  const bool is_long = a.rows >= 2 * n;
  Matrix columns;
  std::vector<double> scales;
  if (is_long) {
    columns = transposed(a);
    scales = lines::triangularise(columns);
    a = Matrix(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = i; j < n; ++j) a(i, j) = columns(j, i);
  }
  Bidiagonal form(std::move(a), is_long ? n : count);
  if (!form.run()) {
    info = 1;
    return;
  }
  const std::vector<double>& values = form.values();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return values[i] > values[j]; });
  for (std::int64_t j = 0; j < n; ++j)
    outputs[kS](0, j) = values[order[static_cast<std::size_t>(j)]] * scale;
  Matrix narrow_side = unit_lines(form.v(), order), long_side;
  if (is_long) {
    const Matrix inner = unit_lines(form.u(), order);
    long_side = unit(count, columns.columns);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) long_side(j, i) = inner(j, i);
    lines::turn_back(columns, scales, 0, long_side, lines::Start::kAny);
  } else {
    for (std::int64_t j = n; j < count; ++j) order.push_back(static_cast<std::size_t>(j));
    long_side = unit_lines(form.u(), order);
  }
  if (is_wide) std::swap(narrow_side, long_side);
  settle_signs(long_side, &narrow_side);
  outputs[kU] = transposed(long_side);
  outputs[kV] = transposed(narrow_side);
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

}  // namespace

Singular singular_decomposition(const char* name, const Tensor& a, bool is_full) {
  checked_matrices(name, a, false);
  const Tensors outputs = call_all(op, a, Attrs().add(is_full));
  return {outputs[kU], verified(outputs[kS], outputs[kInfo], Refusal::kNotConverged), outputs[kV]};
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(Arg A, bool full_matrices,
                                              std::optional<std::string_view>) {
  const SiteScope scope(A.site);
  const Singular found = singular_decomposition("linalg_svd", *A.tensor, full_matrices);
  return {found.u, found.s, mirrored(found.v)};
}
Tensor linalg_svdvals(Arg A, std::optional<std::string_view>) {
  const SiteScope scope(A.site);
  return singular_decomposition("linalg_svdvals", *A.tensor).s;
}
std::tuple<Tensor, Tensor, Tensor> svd(Arg self, bool some, bool compute_uv) {
  const SiteScope scope(self.site);
  const Singular found = singular_decomposition("svd", *self.tensor, !some);
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
