// eigh: eigenvalues and eigenvectors of a symmetric matrix, by Householder's reduction to
// tridiagonal form and implicit QR steps with Wilkinson's shift (Golub and Van Loan, Matrix
// Computations, 8.3). A random matrix and its mirror image are not one matrix, so tests/agreement
// has the tests.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ops/matrix_lines.h"
#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

enum { kUpper };
enum { kValues, kVectors, kInfo };

// The diagonal and what is beside it, in size steps of rotations that `vectors`, lines, follow.
class Tridiagonal : lines::TwoDiagonals {
 public:
  // Takes a, of which the upper triangle is read, apart.
  explicit Tridiagonal(Matrix a) : TwoDiagonals(a.rows) {
    std::vector<double> scales, v(size(n_)), w(size(n_));
    for (std::int64_t k = 0; k + 1 < n_; ++k) {
      const std::int64_t left = n_ - k - 1;
      double* x = &a(k, k + 1);
      scales.push_back(lines::reflect_onto_axis(x, left));
      beside_[size(k)] = x[0];
      if (scales.back() == 0) continue;
      std::copy_n(x, left, v.begin());
      v[0] = 1;
      reflect_both_sides(a, k + 1, v.data(), scales.back(), w.data());
    }
    for (std::int64_t k = 0; k < n_; ++k) diagonal_[size(k)] = a(k, k);
    vectors_ = unit(n_, n_);
    lines::turn_back(a, scales, 1, vectors_, lines::Start::kUnit);
  }

  // False when it does not converge.
  bool run() {
    return shrink([this](std::int64_t first, std::int64_t last, int) { step(first, last); });
  }

  const std::vector<double>& values() const { return diagonal_; }
  Matrix& vectors() { return vectors_; }

 private:
  // The rest of a from `from` on between reflections: it becomes less v w^T + w v^T, where p =
  // scale A v and w = p - scale / 2 (p v) v.
  static void reflect_both_sides(Matrix& a, std::int64_t from, const double* v, double scale,
                                 double* w) {
    const std::int64_t n = a.rows - from;
    std::fill_n(w, n, 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
      const double* row = &a(from + i, from + i);
      w[i] += lines::dot(row, v + i, n - i);
      lines::add_scaled(w + i + 1, v[i], row + 1, n - i - 1);
    }
    for (std::int64_t i = 0; i < n; ++i) w[i] *= scale;
    lines::add_scaled(w, -scale / 2 * lines::dot(w, v, n), v, n);
    for (std::int64_t i = 0; i < n; ++i)
      lines::add_scaled(&a(from + i, from + i), -v[i], w + i, -w[i], v + i, n - i);
  }

  void step(std::int64_t first, std::int64_t last) {
    const double corner = beside_[size(last - 1)], end = diagonal_[size(last)];
    const double ratio = (diagonal_[size(last - 1)] - end) / (2 * corner);
    const double shift = end - corner / (ratio + std::copysign(lines::hypotenuse(ratio, 1), ratio));
    double x = diagonal_[size(first)] - shift, bulge = beside_[size(first)];
    for (std::int64_t k = first; k < last; ++k) {
      const lines::Rotation by = lines::rotation_of(x, bulge);
      if (k > first) beside_[size(k - 1)] = by.radius;
      double &above = diagonal_[size(k)], &below = diagonal_[size(k + 1)], &b = beside_[size(k)];
      const double change = (below - above) * by.s + 2 * by.c * b;
      above += by.s * change;
      below -= by.s * change;
      x = b = by.c * change - b;
      if (k + 1 < last) {
        bulge = by.s * beside_[size(k + 1)];
        beside_[size(k + 1)] *= by.c;
      }
      lines::rotate(by, &vectors_(k, 0), &vectors_(k + 1, 0), n_);
    }
  }

  Matrix vectors_;
};

void decompose(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  const std::int64_t n = inputs[0].rows;
  Matrix a = attr.boolean(kUpper) ? inputs[0] : transposed(inputs[0]);
  double& info = outputs[kInfo](0, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    std::fill_n(&a(i, 0), i, 0.0);
    for (std::int64_t j = i; j < n; ++j)
      if (!std::isfinite(a(i, j))) info = 1;
  }
  if (info != 0) return;
  const double scale = lines::normalise(a);
  Tridiagonal form(std::move(a));
  if (!form.run()) {
    info = 1;
    return;
  }
  const std::vector<double>& values = form.values();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  for (std::int64_t j = 0; j < n; ++j)
    outputs[kValues](0, j) = values[order[static_cast<std::size_t>(j)]] * scale;
  Matrix vectors = unit_lines(form.vectors(), order);
  settle_signs(vectors);
  outputs[kVectors] = transposed(vectors);
}

const Op& op = define({
    .name = "eigh",
    .kind = OpKind::kOpaque,
    .outputs = 3,
    .attributes = {{"upper", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("eigh", s.inputs[0], true);
      const Shape& sizes = s.inputs[0].sizes;
      return {{{s.inputs[0].dtype, batch_with(sizes, {sizes.back()})},
               s.inputs[0],
               {kInt, batch_with(sizes, {})}},
              s.inputs[0].dtype};
    },
    .lowering = matrix_lowering(decompose),
    .gradient =
        [](const Grad& g) {
          const Tensor &values = g.output(kValues), &vectors = g.output(kVectors);
          const Tensor &grad_values = g.cotangents[kValues], &grad_vectors = g.cotangents[kVectors];
          Tensor inner;
          if (grad_vectors.defined()) {
            const Tensor gaps = unsqueeze(values, -2) - unsqueeze(values, -1);
            const Tensor turned = matmul(mirrored(vectors), grad_vectors);
            // half of it: that of a symmetric change
            inner = divided_by_gaps(turned - mirrored(turned), gaps * 2);
          }
          if (grad_values.defined()) {
            const Tensor diagonal = on_diagonal(grad_values);
            inner = inner.defined() ? inner + diagonal : diagonal;
          }
          if (!inner.defined()) return Tensors(1);
          return Tensors{matmul(vectors, matmul(inner, mirrored(vectors)))};
        },
    .saves_outputs = 3,
    .has_inplace = false,
});

std::tuple<Tensor, Tensor> decomposed(const char* name, const Tensor& a,
                                      std::string_view triangle) {
  checked_matrices(name, a, true);
  GROOVE_CHECK(triangle == "L" || triangle == "U" || triangle == "l" || triangle == "u",
               "{}: UPLO \"{}\"; it must be \"L\" or \"U\"", name, triangle);
  const bool is_upper = triangle == "U" || triangle == "u";
  const Tensors outputs = call_all(op, a, Attrs().add(is_upper));
  return {verified(outputs[kValues], outputs[kInfo], Refusal::kNotConverged), outputs[kVectors]};
}

}  // namespace

Matrix unit_lines(const Matrix& vectors, const std::vector<std::size_t>& order) {
  Matrix result(static_cast<std::int64_t>(order.size()), vectors.columns);
  for (std::int64_t j = 0; j < result.rows; ++j) {
    const double* from = vectors.values.data() + order[static_cast<std::size_t>(j)] *
                                                     static_cast<std::size_t>(vectors.columns);
    const double length = lines::length(from, vectors.columns);
    for (std::int64_t i = 0; i < vectors.columns; ++i) result(j, i) = from[i] / length;
  }
  return result;
}

void settle_signs(Matrix& vectors, Matrix* others) {
  const auto turn = [](Matrix& lines, std::int64_t j) {
    for (std::int64_t i = 0; i < lines.columns; ++i) lines(j, i) = -lines(j, i);
  };
  for (std::int64_t j = 0; j < vectors.rows; ++j) {
    std::int64_t greatest = 0;
    for (std::int64_t i = 1; i < vectors.columns; ++i)
      if (std::fabs(vectors(j, i)) > std::fabs(vectors(j, greatest))) greatest = i;
    if (vectors.columns == 0 || vectors(j, greatest) >= 0) continue;
    turn(vectors, j);
    if (others && j < others->rows) turn(*others, j);
  }
}

Tensor on_diagonal(const Tensor& values) {
  const Type type = type_of(values);
  return unsqueeze(values, -2) * eye(type.sizes.back(), TensorOptions(type.dtype));
}

Tensor divided_by_gaps(const Tensor& x, const Tensor& gaps) {
  const Tensor is_diagonal = eye(type_of(x).sizes.back(), TensorOptions(kBool));
  return masked_fill(x / masked_fill(gaps, is_diagonal, 1), is_diagonal, 0);
}

std::tuple<Tensor, Tensor> linalg_eigh(Arg self, std::string_view UPLO) {
  const SiteScope scope(self.site);
  return decomposed("linalg_eigh", *self.tensor, UPLO);
}
Tensor linalg_eigvalsh(Arg self, std::string_view UPLO) {
  const SiteScope scope(self.site);
  return std::get<0>(decomposed("linalg_eigvalsh", *self.tensor, UPLO));
}

}  // namespace groove
