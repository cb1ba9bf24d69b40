// eigh: eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations, which go through
// all pairs in one order until nothing beside the diagonal is left. A random matrix and its mirror
// image are not one matrix, so tests/agreement has the tests.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

enum { kUpper };
enum { kValues, kVectors, kInfo };
constexpr int kSweeps = 60;

// One rotation: a(p, q) becomes 0.
void rotate(Matrix& a, Matrix& v, std::int64_t p, std::int64_t q) {
  const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    const double left = a(k, p), right = a(k, q);
    a(k, p) = c * left - s * right;
    a(k, q) = s * left + c * right;
  }
  for (std::int64_t k = 0; k < a.rows; ++k) {
    const double above = a(p, k), below = a(q, k);
    a(p, k) = c * above - s * below;
    a(q, k) = s * above + c * below;
  }
  a(p, q) = a(q, p) = 0;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    const double left = v(k, p), right = v(k, q);
    v(k, p) = c * left - s * right;
    v(k, q) = s * left + c * right;
  }
}

void decompose(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  Matrix a = inputs[0];
  const std::int64_t n = a.rows;
  double greatest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double value = attr.boolean(kUpper) ? a(j, i) : a(i, j);
      a(i, j) = a(j, i) = value;
      if (!std::isfinite(value)) outputs[kInfo](0, 0) = 1;
      greatest = std::max(greatest, std::fabs(value));
    }
  }
  if (outputs[kInfo](0, 0) != 0) return;
  Matrix v = unit(n, n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool is_diagonal = true;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double beside = std::fabs(a(p, q));
        if (beside <= 1e-18 * greatest || beside < 1e-300) continue;
        is_diagonal = false;
        rotate(a, v, p, q);
      }
    }
    if (is_diagonal) break;
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return a(i, i) < a(j, j); });
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    outputs[kValues](0, j) = a(from, from);
    for (std::int64_t i = 0; i < n; ++i) outputs[kVectors](i, j) = v(i, from);
  }
  settle_signs(outputs[kVectors]);
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

void settle_signs(Matrix& vectors, Matrix* others) {
  for (std::int64_t j = 0; j < vectors.columns; ++j) {
    std::int64_t greatest = 0;
    for (std::int64_t i = 1; i < vectors.rows; ++i)
      if (std::fabs(vectors(i, j)) > std::fabs(vectors(greatest, j))) greatest = i;
    if (vectors.rows == 0 || vectors(greatest, j) >= 0) continue;
    for (std::int64_t i = 0; i < vectors.rows; ++i) vectors(i, j) = -vectors(i, j);
    if (!others || j >= others->columns) continue;
    for (std::int64_t i = 0; i < others->rows; ++i) (*others)(i, j) = -(*others)(i, j);
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
