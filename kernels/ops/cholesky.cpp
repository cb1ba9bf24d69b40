// cholesky_factor: A = L L^T from A's lower triangle. Random numbers are no positive definite
// matrix, so tests/agreement has its tests.
#include <algorithm>
#include <cmath>

#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kFactor, kInfo };

// As many columns as a sum of products has parts: what is left of them are whole vectors.
constexpr std::int64_t kColumns = 8;

// Element by element of a line, from the sums of products with all that is left of the columns.
// Gives the column, counted from 1, whose pivot is not positive, or 0.
std::int64_t finish_line(const Matrix& a, Matrix& l, std::int64_t i, std::int64_t first,
                         const double* sums) {
  for (std::int64_t j = first; j < std::min(first + kColumns, i + 1); ++j) {
    double rest = 0;
    for (std::int64_t k = first; k < j; ++k) rest += l(i, k) * l(j, k);
    const double left = a(i, j) - (sums[j - first] + rest);
    if (i == j && !(left > 0)) return j + 1;
    l(i, j) = i == j ? std::sqrt(left) : left / l(j, j);
  }
  return 0;
}

void factor(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  Matrix l(a.rows, lines::spread(a.rows));
  const auto give = [&](std::int64_t refused) {
    outputs[kInfo](0, 0) = static_cast<double>(refused);
    for (std::int64_t i = 0; i < a.rows; ++i)
      std::copy_n(&l(i, 0), a.rows, &outputs[kFactor](i, 0));
  };
  for (std::int64_t first = 0; first < a.rows; first += kColumns) {
    const std::int64_t columns = std::min(kColumns, a.rows - first);
    for (std::int64_t i = first; i < a.rows; i += lines::kDots) {
      const std::int64_t rows = std::min(lines::kDots, a.rows - i);
      double sums[lines::kDots][kColumns] = {};
      for (std::int64_t j = 0; j < columns && first > 0; ++j) {
        double column[lines::kDots] = {};
        const double* const with = &l(first + j, 0);
        if (rows == lines::kDots) lines::dots(&l(i, 0), l.columns, with, first, column);
        for (std::int64_t k = 0; k < rows; ++k)
          sums[k][j] = rows == lines::kDots ? column[k] : lines::dot(&l(i + k, 0), with, first);
      }
      for (std::int64_t k = 0; k < rows; ++k) {
        const std::int64_t refused = finish_line(a, l, i + k, first, sums[k]);
        if (refused != 0) return give(refused);
      }
    }
  }
  give(0);
}

const Op& op = define({
    .name = "cholesky_factor",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("cholesky_factor", s.inputs[0], true);
      return {{s.inputs[0], {kInt, batch_with(s.inputs[0].sizes, {})}}, s.inputs[0].dtype};
    },
    .lowering = matrix_lowering(factor),
    // What moves L's lower triangle, mirrored: A is taken to be symmetric.
    .gradient =
        [](const Grad& g) {
          if (!g.cotangent().defined()) return Tensors(1);
          const Tensor& l = g.output(kFactor);
          const Tensor lower = tril(matmul(mirrored(l), g.cotangent()));
          const Tensor inner = (lower + mirrored(tril(lower, -1))) * 0.5;
          const Tensor left = linalg_solve_triangular(mirrored(l), inner, true);
          return Tensors{linalg_solve_triangular(l, left, false, false)};
        },
    .saves_outputs = 1,
    .has_inplace = false,
});

Tensor factored(const char* name, const Tensor& a, bool upper) {
  checked_matrices(name, a, true);
  const Tensors outputs = call_all(op, upper ? mirrored(a) : a);
  const Tensor factor = verified(outputs[kFactor], outputs[kInfo], Refusal::kNotPositive);
  return upper ? mirrored(factor) : factor;
}

enum { kUpper };

// The X of L L^T X = B. The slope by L is that of the product, in both triangles.
const Op& op_solve = define({
    .name = "cholesky_solve",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = {{"upper", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_matrices("cholesky_solve", s.inputs[0], false);
      check_matrices("cholesky_solve", s.inputs[1], true);
      const Shape &b = s.inputs[0].sizes, &l = s.inputs[1].sizes;
      GROOVE_CHECK(s.inputs[0].dtype == s.inputs[1].dtype && l.size() == b.size() &&
                       batch_with(l, {l.back()}) == batch_with(b, {b[b.size() - 2]}),
                   "cholesky_solve: B {} {} and the factor {} {} do not fit",
                   name(s.inputs[0].dtype), to_string(b), name(s.inputs[1].dtype), to_string(l));
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor lower = s.attr().boolean(kUpper) ? mirrored(inputs[1]) : inputs[1];
          return Tensors{linalg_solve_triangular(
              mirrored(lower), linalg_solve_triangular(lower, inputs[0], false), true)};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& factor = g.input(1);
          const Tensor grad = call(g.op, {g.cotangent(), factor}, Site::current(), g.attrs);
          Tensors result(2);
          if (g.needs[0]) result[0] = grad;
          if (g.needs[1]) {
            const Tensor half = neg(matmul(grad, mirrored(g.output())));
            const Tensor whole = half + mirrored(half);
            result[1] = g.attr().boolean(kUpper) ? matmul(factor, whole) : matmul(whole, factor);
          }
          return result;
        },
    .saves_inputs = 2,
    .saves_outputs = 1,
    .has_inplace = false,
});

Tensor solved(const char* name, const Tensor& b, const Tensor& factor, bool upper) {
  const auto [sides, factors] = one_batch(name, b, factor);
  return call(op_solve, {sides, factors}, Site::current(), Attrs().add(upper));
}

}  // namespace

Tensor linalg_cholesky(Arg self, bool upper) {
  const SiteScope scope(self.site);
  return factored("linalg_cholesky", *self.tensor, upper);
}
std::tuple<Tensor, Tensor> linalg_cholesky_ex(Arg self, bool upper, bool check_errors) {
  const SiteScope scope(self.site);
  checked_matrices("linalg_cholesky_ex", *self.tensor, true);
  const Tensors outputs = call_all(op, upper ? mirrored(*self.tensor) : *self.tensor);
  const Tensor factor = check_errors
                            ? verified(outputs[kFactor], outputs[kInfo], Refusal::kNotPositive)
                            : outputs[kFactor];
  return {upper ? mirrored(factor) : factor, outputs[kInfo]};
}
Tensor cholesky(Arg self, bool upper) {
  const SiteScope scope(self.site);
  return factored("cholesky", *self.tensor, upper);
}
Tensor cholesky_solve(Arg self, const Tensor& input2, bool upper) {
  const SiteScope scope(self.site);
  checked_matrices("cholesky_solve", *self.tensor, false);
  checked_matrices("cholesky_solve", input2, true);
  return solved("cholesky_solve", *self.tensor, input2, upper);
}
Tensor cholesky_inverse(Arg self, bool upper) {
  const SiteScope scope(self.site);
  const Type type = checked_matrices("cholesky_inverse", *self.tensor, true);
  return solved("cholesky_inverse", eye(type.sizes.back(), TensorOptions(type.dtype)), *self.tensor,
                upper);
}

Tensor LinearAlgebraMethods::cholesky(bool upper, Site site) const {
  return groove::cholesky({self(), site}, upper);
}
Tensor LinearAlgebraMethods::cholesky_solve(const Tensor& input2, bool upper, Site site) const {
  return groove::cholesky_solve({self(), site}, input2, upper);
}
Tensor LinearAlgebraMethods::cholesky_inverse(bool upper, Site site) const {
  return groove::cholesky_inverse({self(), site}, upper);
}

}  // namespace groove
