// cholesky_factor: A = L L^T from A's lower triangle. Random numbers are no positive definite
// matrix, so tests/agreement has its tests.
#include <cmath>

#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kFactor, kInfo };

void factor(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  Matrix& l = outputs[kFactor];
  for (std::int64_t j = 0; j < a.rows; ++j) {
    const double pivot = a(j, j) - lines::dot(&l(j, 0), &l(j, 0), j);
    if (!(pivot > 0)) {
      outputs[kInfo](0, 0) = static_cast<double>(j + 1);
      return;
    }
    l(j, j) = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < a.rows; ++i)
      l(i, j) = (a(i, j) - lines::dot(&l(i, 0), &l(j, 0), j)) / l(j, j);
  }
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
