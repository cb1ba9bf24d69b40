// matrix_exp: a Taylor polynomial of A / 2^s, squared s times. The slope along G is the upper right
// block of the exponential of [A G; 0 A], which is one itself, so gradients have gradients.
#include <array>
#include <cmath>

#include "groove/ops/products.h"
#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

double longest_row(const Matrix& a) {
  double greatest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) total += std::fabs(a(i, j));
    greatest = std::max(greatest, total);
  }
  return greatest;
}

// A is halved until its norm is 1 at most, so that the first term left out, of degree 19, is below
// what is rounded. The polynomial is one in A^3 whose coefficients have degree 2: seven products in
// place of eighteen (Paterson and Stockmeyer; Golub and Van Loan, Matrix Computations, 9.2.4).
Matrix exponential(Matrix a) {
  int halvings = 0;
  for (double left = longest_row(a); left > 1 && halvings < 1100; left /= 2) ++halvings;
  for (double& value : a.values) value = std::ldexp(value, -halvings);
  std::array<double, 19> factors{1};
  for (std::size_t n = 1; n < factors.size(); ++n)
    factors[n] = factors[n - 1] / static_cast<double>(n);
  const Matrix square = lines::product(a, a), cube = lines::product(square, a);
  Matrix result = cube;
  for (double& value : result.values) value *= factors[18];
  for (std::size_t n = 15;; n -= 3) {
    lines::add_scaled(result.values.data(), factors[n + 1], a.values.data(), factors[n + 2],
                      square.values.data(), a.rows * a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) result(i, i) += factors[n];
    if (n == 0) break;
    result = lines::product(result, cube);
  }
  for (; halvings > 0; --halvings) result = lines::product(result, result);
  return result;
}

const Op& op = define({
    .name = "matrix_exp",
    .kind = OpKind::kOpaque,
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("matrix_exp", s.inputs[0], true);
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = matrix_lowering([](const AttrReader&, const Matrices& inputs, Matrices& outputs) {
      outputs[0] = exponential(inputs[0]);
    }),
    .gradient =
        [](const Grad& g) {
          const Tensor a = mirrored(g.input(0));
          const std::int64_t n = g.input_types[0].sizes.back();
          const Tensor upper = cat({a, g.cotangent()}, -1), lower = cat({zeros_like(a), a}, -1);
          const Tensor whole = call(g.op, {cat({upper, lower}, -2)}, Site::current());
          return Tensors{narrow(narrow(whole, -2, 0, n), -1, n, n)};
        },
    .saves_inputs = 1,
    .has_inplace = false,
    // without halving
    .reference = matrix_reference([](const AttrReader&, const Matrices& inputs, Matrices& outputs) {
      outputs[0] = unit(inputs[0].rows, inputs[0].rows);
      Matrix term = outputs[0];
      for (int n = 1; n < 80; ++n) {
        term = lines::product(term, inputs[0]);
        for (double& value : term.values) value /= n;
        for (std::size_t i = 0; i < term.values.size(); ++i) outputs[0].values[i] += term.values[i];
      }
    }),
    .domain = {0, 1.5},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes : {Shape{1, 1}, Shape{3, 3}, Shape{2, 4, 4}, Shape{0, 2, 2}})
            samples.push_back({{{dtype, sizes}}, {}, {}});
          return samples;
        },
    .tolerance_ulp = 256,
});

}  // namespace

Tensor matrix_exp(Arg self) {
  const CallFrame frame(self.site);
  checked_matrices("matrix_exp", *self.tensor, true);
  return call(op, self);
}
Tensor linalg_matrix_exp(Arg self) {
  const CallFrame frame(self.site);
  checked_matrices("linalg_matrix_exp", *self.tensor, true);
  return call(op, self);
}
Tensor LinearAlgebraMethods::matrix_exp(Site site) const {
  return groove::matrix_exp({self(), site});
}

}  // namespace groove
