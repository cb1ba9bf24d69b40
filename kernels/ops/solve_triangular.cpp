// solve_triangular: the X of A X = B by substitution. One triangle of A is read.
#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kUpper, kUnit };

void solve(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  Matrix& x = outputs[0];
  x = inputs[1];
  if (x.values.empty()) return;
  lines::substitute({a.values.data(), a.columns},
                    attr.boolean(kUpper) ? lines::Triangle::kUpper : lines::Triangle::kLower,
                    attr.boolean(kUnit), x.values.data(), x.columns, a.rows, x.columns);
}

// By the sum over all paths of the inverse: N = D^-1 (D - A) is nilpotent, A^-1 = (sum of N^k)
// D^-1.
void reference(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  const bool is_upper = attr.boolean(kUpper), is_unit = attr.boolean(kUnit);
  const auto diagonal = [&](std::int64_t i) { return is_unit ? 1 : a(i, i); };
  Matrix term = inputs[1];
  for (std::int64_t i = 0; i < term.rows; ++i)
    for (std::int64_t j = 0; j < term.columns; ++j) term(i, j) /= diagonal(i);
  outputs[0] = term;
  for (std::int64_t power = 1; power < a.rows; ++power) {
    Matrix next(term.rows, term.columns);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = 0; k < a.rows; ++k)
        if (is_upper ? k > i : k < i)
          for (std::int64_t j = 0; j < term.columns; ++j)
            next(i, j) -= a(i, k) * term(k, j) / diagonal(i);
    term = next;
    for (std::size_t n = 0; n < term.values.size(); ++n) outputs[0].values[n] += term.values[n];
  }
}

Tensor solved(const Op& op, const Tensor& a, const Tensor& b, bool is_upper, bool is_unit) {
  return call(op, {a, b}, Site::current(), Attrs().add(is_upper).add(is_unit));
}

const Op& op = define({
    .name = "solve_triangular",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .attributes = {{"upper", AttrType::kBool}, {"unit", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_matrices("solve_triangular", s.inputs[0], true);
      check_matrices("solve_triangular", s.inputs[1], false);
      const Shape &a = s.inputs[0].sizes, &b = s.inputs[1].sizes;
      GROOVE_CHECK(s.inputs[0].dtype == s.inputs[1].dtype && a.size() == b.size() &&
                       batch_with(a, {a.back()}) == batch_with(b, {b[b.size() - 2]}),
                   "solve_triangular: {} {} and {} {} do not fit", name(s.inputs[0].dtype),
                   to_string(a), name(s.inputs[1].dtype), to_string(b));
      return {{s.inputs[1]}, s.inputs[1].dtype};
    },
    .lowering = matrix_lowering(solve),
    .gradient =
        [](const Grad& g) {
          const bool is_upper = g.attr().boolean(kUpper), is_unit = g.attr().boolean(kUnit);
          const Tensor grad = solved(g.op, mirrored(g.input(0)), g.cotangent(), !is_upper, is_unit);
          Tensors result(2);
          if (g.needs[0]) {
            const Tensor whole = neg(matmul(grad, mirrored(g.output())));
            const std::int64_t beside = is_unit ? 1 : 0;
            result[0] = is_upper ? triu(whole, beside) : tril(whole, -beside);
          }
          if (g.needs[1]) result[1] = grad;
          return result;
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = matrix_reference(reference),
    .domain = {0.5, 1.5},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool is_upper : {false, true}) {
            for (const bool is_unit : {false, true}) {
              const Attrs attrs = Attrs().add(is_upper).add(is_unit);
              samples.push_back({{{dtype, {1, 1}}, {dtype, {1, 3}}}, attrs, {}});
              samples.push_back({{{dtype, {4, 4}}, {dtype, {4, 2}}}, attrs, {}});
              samples.push_back({{{dtype, {2, 3, 3}}, {dtype, {2, 3, 1}}}, attrs, {}});
              samples.push_back({{{dtype, {2, 0, 0}}, {dtype, {2, 0, 1}}}, attrs, {}});
            }
          }
          return samples;
        },
    .tolerance_ulp = 4096,
});

}  // namespace

Tensor linalg_solve_triangular(Arg self, const Tensor& B, bool upper, bool left,
                               bool unitriangular) {
  const SiteScope scope(self.site);
  const char* name = "linalg_solve_triangular";
  const Type a = checked_matrices(name, *self.tensor, true);
  const Type b = checked_matrices(name, B, false);
  const std::int64_t length = left ? b.sizes[b.sizes.size() - 2] : b.sizes.back();
  GROOVE_CHECK(a.sizes.back() == length, "{}: A {} and B {} do not fit", name, to_string(a.sizes),
               to_string(b.sizes));
  if (left) {
    const auto [matrices, sides] = one_batch(name, *self.tensor, B);
    return solved(op, matrices, sides, upper, unitriangular);
  }
  const auto [matrices, sides] = one_batch(name, mirrored(*self.tensor), mirrored(B));
  return mirrored(solved(op, matrices, sides, !upper, unitriangular));
}

std::tuple<Tensor, Tensor> triangular_solve(Arg self, const Tensor& A, bool upper, bool transpose,
                                            bool unitriangular) {
  const SiteScope scope(self.site);
  checked_matrices("triangular_solve", A, true);
  const Tensor x =
      transpose ? linalg_solve_triangular(mirrored(A), *self.tensor, !upper, true, unitriangular)
                : linalg_solve_triangular(A, *self.tensor, upper, true, unitriangular);
  const Shape batch = batch_with(x.sizes(), {A.size(-2), A.size(-1)});
  return {x, clone(expand(A, batch))};
}
std::tuple<Tensor, Tensor> LinearAlgebraMethods::triangular_solve(const Tensor& A, bool upper,
                                                                  bool transpose,
                                                                  bool unitriangular,
                                                                  Site site) const {
  return groove::triangular_solve({self(), site}, A, upper, transpose, unitriangular);
}

}  // namespace groove
