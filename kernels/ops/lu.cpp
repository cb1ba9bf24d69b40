// lu_factor: A = P L U in one matrix, by columns, with the rows exchanged that bring the greatest
// element of a column to its pivot.
#include <algorithm>
#include <cmath>

#include "groove/ops/index.h"
#include "kernels/ops/lu.h"
#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kPivots };  // attribute
enum { kFactors, kExchanges, kInfo };

void factor(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  const Matrix& a = inputs[0];
  if (a.values.empty()) return;
  Matrix apart(a.rows, lines::spread(a.columns));
  for (std::int64_t i = 0; i < a.rows; ++i) std::copy_n(&a(i, 0), a.columns, &apart(i, 0));
  const lines::Elimination done =
      lines::eliminate(apart, std::min(a.rows, a.columns), a.columns, attr.boolean(kPivots));
  for (std::int64_t i = 0; i < a.rows; ++i)
    std::copy_n(&apart(i, 0), a.columns, &outputs[kFactors](i, 0));
  for (std::size_t k = 0; k < done.rows.size(); ++k)
    outputs[kExchanges].values[k] = static_cast<double>(done.rows[k] + 1);
  outputs[kInfo](0, 0) = static_cast<double>(done.zero);
}

// Crout's order: each element once, from the sums of products of what is left of and above it.
void reference(const AttrReader& attr, const Matrices& inputs, Matrices& outputs) {
  Matrix& a = outputs[kFactors];
  a = inputs[0];
  const std::int64_t steps = std::min(a.rows, a.columns);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double total = 0;
      for (std::int64_t k = 0; k < std::min(i, j); ++k) total += a(i, k) * a(k, j);
      a(i, j) -= total;
    }
    if (j >= steps) continue;
    std::int64_t pivot = j;
    for (std::int64_t i = j; i < a.rows && attr.boolean(kPivots); ++i)
      if (std::fabs(a(i, j)) > std::fabs(a(pivot, j))) pivot = i;
    for (std::int64_t c = 0; c < a.columns; ++c) {
      const double kept = a(j, c);
      a(j, c) = a(pivot, c);
      a(pivot, c) = kept;
    }
    outputs[kExchanges](0, j) = static_cast<double>(pivot + 1);
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= a(j, j);
  }
}

// With X = P^T A and its first k rows and columns X1 = L1 U1: the slopes of L below its diagonal
// and of U on and above it, brought back through both triangles.
Tensor gradient(const Grad& g) {
  const Tensor &factors = g.output(kFactors), &grad = g.cotangent();
  const Shape& sizes = g.output_types[kFactors].sizes;
  const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  const std::int64_t k = std::min(rows, columns);
  const Tensor top = narrow(factors, -2, 0, k), square = narrow(top, -1, 0, k);
  const Tensor lower = tril(square, -1) + eye(k, TensorOptions(g.output_types[0].dtype));
  const Tensor upper = triu(square);
  const Tensor grad_top = narrow(grad, -2, 0, k), grad_square = narrow(grad_top, -1, 0, k);
  Tensor inside = tril(matmul(mirrored(lower), tril(grad_square, -1)), -1);
  Tensor outside = triu(matmul(triu(grad_square), mirrored(upper)));
  Tensor grad_wide, grad_tall;
  if (columns > k) {
    const Tensor wide = narrow(top, -1, k, columns - k), own = narrow(grad_top, -1, k, columns - k);
    grad_wide = linalg_solve_triangular(mirrored(lower), own, true, true, true);
    inside = inside - tril(matmul(own, mirrored(wide)), -1);
  }
  if (rows > k) {
    const Tensor tall = narrow(factors, -2, k, rows - k), own = narrow(grad, -2, k, rows - k);
    grad_tall = linalg_solve_triangular(mirrored(upper), own, false, false);
    outside = outside - triu(matmul(mirrored(tall), own));
  }
  const Tensor left = linalg_solve_triangular(mirrored(lower), inside + outside, true, true, true);
  Tensor result = linalg_solve_triangular(mirrored(upper), left, false, false);
  if (grad_wide.defined()) result = cat({result, grad_wide}, -1);
  if (grad_tall.defined()) result = cat({result, grad_tall}, -2);
  return g.attr().boolean(kPivots)
             ? matmul(exchange_matrix(g.output(kExchanges), rows, result), result)
             : result;
}

const Op& op = define({
    .name = "lu_factor",
    .kind = OpKind::kOpaque,
    .outputs = 3,
    .attributes = {{"pivots", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("lu_factor", s.inputs[0], false);
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t steps = std::min(sizes[sizes.size() - 2], sizes.back());
      return {{s.inputs[0], {kInt, batch_with(sizes, {steps})}, {kInt, batch_with(sizes, {})}},
              s.inputs[0].dtype};
    },
    .lowering = matrix_lowering(factor),
    .gradient =
        [](const Grad& g) { return g.cotangent().defined() ? Tensors{gradient(g)} : Tensors(1); },
    .saves_outputs = 3,
    .has_inplace = false,
    .reference = matrix_reference(reference),
    .domain = {0.5, 2},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes : {Shape{1, 1}, Shape{3, 3}, Shape{2, 4, 4}, Shape{3, 5},
                                     Shape{2, 5, 3}, Shape{0, 3, 3}, Shape{0, 0}})
            samples.push_back({{{dtype, sizes}}, Attrs().add(true), {}});
          return samples;
        },
    .tolerance_ulp = 4096,  // of differences that may cancel
});

enum { kRows };

void order(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  Matrix& rows = outputs[0];
  for (std::int64_t i = 0; i < rows.columns; ++i) rows(0, i) = static_cast<double>(i);
  for (std::int64_t k = 0; k < inputs[0].rows; ++k) {
    const auto other = static_cast<std::int64_t>(inputs[0](k, 0)) - 1;
    if (other >= 0 && other < rows.columns) std::swap(rows(0, k), rows(0, other));
  }
}

// The row of A that stands in each place of P^T A, from the exchanges [.., k, 1].
const Op& op_order = define({
    .name = "exchanged_rows",
    .kind = OpKind::kOpaque,
    .attributes = {{"rows", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t rows = s.attr().integer(kRows);
      GROOVE_CHECK(s.inputs[0].dtype == kInt && sizes.size() >= 2 && sizes.back() == 1 &&
                       sizes[sizes.size() - 2] <= rows,
                   "exchanged_rows: {} {} of {} rows", name(s.inputs[0].dtype), to_string(sizes),
                   rows);
      return {{{kLong, batch_with(sizes, {rows})}}, kInt};
    },
    .lowering = matrix_lowering(order),
    .range = [](const Signature& s, ArrayRef<ValueRange>,
                int) { return positions_below(s.attr().integer(kRows)); },
    .has_inplace = false,
    .reference = matrix_reference([](const AttrReader&, const Matrices& inputs, Matrices& outputs) {
      // each row followed on its way
      for (std::int64_t row = 0; row < outputs[0].columns; ++row) {
        std::int64_t at = row;
        for (std::int64_t k = 0; k < inputs[0].rows; ++k) {
          const auto other = static_cast<std::int64_t>(inputs[0](k, 0)) - 1;
          at = at == k ? other : at == other ? k : at;
        }
        outputs[0](0, at) = static_cast<double>(row);
      }
    }),
    .domain = {1, 3},
    .dtypes = {kInt},
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {3, 1}}}, Attrs().add(4), {}},
                                     {{{dtype, {2, 3, 1}}}, Attrs().add(3), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor exchanged_rows(const Tensor& exchanges, std::int64_t rows) {
  return call(op_order, {unsqueeze(exchanges, -1)}, Site::current(), Attrs().add(rows));
}

Tensor exchange_matrix(const Tensor& exchanges, std::int64_t rows, const Tensor& like) {
  const Tensor places = unsqueeze(exchanged_rows(exchanges, rows), -2);
  return eq(unsqueeze(arange(Scalar(rows), kLong), -1), places).to(type_of(like).dtype);
}

LuFactors lu_factors(const char* name, const Tensor& a, bool pivots, bool is_square) {
  checked_matrices(name, a, is_square);
  const Tensors outputs = call_all(op, a, Attrs().add(pivots));
  return {outputs[kFactors], outputs[kExchanges], outputs[kInfo]};
}

std::tuple<Tensor, Tensor> linalg_lu_factor(Arg A, bool pivot) {
  const SiteScope scope(A.site);
  const LuFactors lu = lu_factors("linalg_lu_factor", *A.tensor, pivot, false);
  // as LAPACK has it, a pivot that is 0 is no mistake where rows are exchanged
  return {pivot ? lu.factors : verified(lu.factors, lu.info, Refusal::kSingular), lu.exchanges};
}
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(Arg A, bool pivot, bool check_errors) {
  const SiteScope scope(A.site);
  const LuFactors lu = lu_factors("linalg_lu_factor_ex", *A.tensor, pivot, false);
  return {check_errors ? verified(lu.factors, lu.info, Refusal::kSingular) : lu.factors,
          lu.exchanges, lu.info};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(Arg LU_data, const Tensor& LU_pivots, bool unpack_data,
                                             bool unpack_pivots) {
  const SiteScope scope(LU_data.site);
  const Tensor& data = *LU_data.tensor;
  const Type type = checked_matrices("lu_unpack", data, false);
  GROOVE_CHECK(checked("lu_unpack", LU_pivots).dtype == kInt,
               "lu_unpack: the pivots are {}; they must be Int", name(LU_pivots.scalar_type()));
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  const std::int64_t k = std::min(rows, columns);
  const TensorOptions options(type.dtype);
  Tensor permutation = empty({0}, options), lower = permutation, upper = permutation;
  if (unpack_data) {
    lower = tril(narrow(data, -1, 0, k), -1) + eye(rows, k, options);
    upper = triu(narrow(data, -2, 0, k));
  }
  if (unpack_pivots) permutation = exchange_matrix(LU_pivots, rows, data);
  return {permutation, lower, upper};
}
std::tuple<Tensor, Tensor, Tensor> linalg_lu(Arg A, bool pivot) {
  const SiteScope scope(A.site);
  const LuFactors lu = lu_factors("linalg_lu", *A.tensor, pivot, false);
  auto result = lu_unpack(lu.factors, lu.exchanges, true, pivot);
  return result;
}

Tensor linalg_lu_solve(Arg LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  const SiteScope scope(LU.site);
  checked_matrices("linalg_lu_solve", *LU.tensor, true);
  checked_matrices("linalg_lu_solve", B, false);
  const auto [permutation, lower, upper] = lu_unpack(LU, pivots);
  if (!left)  // X A = B is A^T X^T = B^T
    return mirrored(linalg_lu_solve(LU, pivots, mirrored(B), true, !adjoint));
  if (adjoint) {
    const Tensor inner = linalg_solve_triangular(mirrored(upper), B, false);
    return matmul(permutation, linalg_solve_triangular(mirrored(lower), inner, true, true, true));
  }
  const Tensor inner =
      linalg_solve_triangular(lower, matmul(mirrored(permutation), B), false, true, true);
  return linalg_solve_triangular(upper, inner, true);
}
Tensor lu_solve(Arg self, const Tensor& LU_data, const Tensor& LU_pivots) {
  const SiteScope scope(self.site);
  return linalg_lu_solve(LU_data, LU_pivots, *self.tensor);
}
Tensor LinearAlgebraMethods::lu_solve(const Tensor& LU_data, const Tensor& LU_pivots,
                                      Site site) const {
  return groove::lu_solve({self(), site}, LU_data, LU_pivots);
}

}  // namespace groove
