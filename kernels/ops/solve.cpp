// solve: the X of A X = B by LU factors; inverses, determinants and what else is solved with A.
#include <algorithm>
#include <cmath>

#include "groove/ops/index.h"
#include "kernels/ops/lu.h"
#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kSolution, kInfo };

// Elimination takes B along beside A.
void solve(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  const Matrix &left = inputs[0], &right = inputs[1];
  const std::int64_t n = left.rows, columns = right.columns;
  if (columns == 0 && n == 0) return;
  Matrix both(n, lines::spread(n + columns));
  for (std::int64_t i = 0; i < n; ++i) {
    std::copy_n(&left(i, 0), n, &both(i, 0));
    if (columns > 0) std::copy_n(&right(i, 0), columns, &both(i, 0) + n);
  }
  outputs[kInfo](0, 0) = static_cast<double>(lines::eliminate(both, n, n + columns, true).zero);
  if (columns == 0) return;
  lines::substitute({&both(0, 0), both.columns}, lines::Triangle::kUpper, false, &both(0, 0) + n,
                    both.columns, n, columns);
  for (std::int64_t i = 0; i < n; ++i)
    std::copy_n(&both(i, 0) + n, columns, &outputs[kSolution](i, 0));
}

double minor_sum(const Matrix& a) {
  if (a.rows == 0) return 1;
  double total = 0;
  for (std::int64_t out = 0; out < a.columns; ++out) {
    Matrix rest(a.rows - 1, a.columns - 1);
    for (std::int64_t i = 1; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.columns; ++j)
        if (j != out) rest(i - 1, j - (j > out)) = a(i, j);
    total += (out % 2 ? -1 : 1) * a(0, out) * minor_sum(rest);
  }
  return total;
}
// Cramer's rule.
void reference(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  const Matrix &a = inputs[0], &b = inputs[1];
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      Matrix replaced = a;
      for (std::int64_t k = 0; k < a.rows; ++k) replaced(k, i) = b(k, j);
      outputs[kSolution](i, j) = minor_sum(replaced) / minor_sum(a);
    }
  }
}

const Op& op = define({
    .name = "solve",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .outputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_matrices("solve", s.inputs[0], true);
      check_matrices("solve", s.inputs[1], false);
      const Shape &a = s.inputs[0].sizes, &b = s.inputs[1].sizes;
      GROOVE_CHECK(s.inputs[0].dtype == s.inputs[1].dtype && a.size() == b.size() &&
                       batch_with(a, {a.back()}) == batch_with(b, {b[b.size() - 2]}),
                   "solve: {} {} and {} {} do not fit", name(s.inputs[0].dtype), to_string(a),
                   name(s.inputs[1].dtype), to_string(b));
      return {{s.inputs[1], {kInt, batch_with(a, {})}}, s.inputs[1].dtype};
    },
    .lowering = matrix_lowering(solve),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (!g.cotangent().defined()) return result;
          const Tensor grad = call_all(g.op, {mirrored(g.input(0)), g.cotangent()})[kSolution];
          if (g.needs[0]) result[0] = neg(matmul(grad, mirrored(g.output(kSolution))));
          if (g.needs[1]) result[1] = grad;
          return result;
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = matrix_reference(reference),
    .domain = {0.5, 2},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {1, 1}}, {dtype, {1, 2}}}, {}, {}},
                                     {{{dtype, {3, 3}}, {dtype, {3, 4}}}, {}, {}},
                                     {{{dtype, {2, 4, 4}}, {dtype, {2, 4, 1}}}, {}, {}},
                                     {{{dtype, {0, 2, 2}}, {dtype, {0, 2, 2}}}, {}, {}},
                                     {{{dtype, {2, 2}}, {dtype, {2, 0}}}, {}, {}}};
        },
    .tolerance_ulp = 4096,  // of differences that may cancel
});

struct Solved {
  Tensor x, info;
};

Solved solved(const char* name, const Tensor& a, const Tensor& b, bool left) {
  const Type type = checked_matrices(name, a, true);
  const Shape sizes = checked(name, b).geometry.sizes;
  Shape columns = type.sizes;
  columns.erase(columns.size() - 1);
  // as LibTorch: vectors are what has A's shape without an axis, or any one axis
  const bool are_vectors = sizes == columns || sizes.size() == 1;
  const Tensor sides = are_vectors ? unsqueeze(b, -1) : b;
  const Type side = checked_matrices(name, sides, false);
  GROOVE_CHECK(left || !are_vectors || type.sizes.back() == 1,
               "{}: B {} is a vector, which has left solutions only", name, to_string(sizes));
  const std::int64_t length = left ? side.sizes[side.sizes.size() - 2] : side.sizes.back();
  GROOVE_CHECK(length == type.sizes.back(), "{}: A {} and B {} do not fit", name,
               to_string(type.sizes), to_string(sizes));
  const auto [matrices, wide] =
      left ? one_batch(name, a, sides) : one_batch(name, mirrored(a), mirrored(sides));
  const Tensors outputs = call_all(op, {matrices, wide});
  Tensor x = left ? outputs[kSolution] : mirrored(outputs[kSolution]);
  if (are_vectors) x = squeeze(x, -1);
  return {x, outputs[kInfo]};
}

Solved inverted(const char* name, const Tensor& a) {
  const Type type = checked_matrices(name, a, true);
  const Tensor identity = eye(type.sizes.back(), TensorOptions(type.dtype));
  const Tensors outputs = call_all(op, {a, expand(identity, type.sizes)});
  return {outputs[kSolution], outputs[kInfo]};
}

// -1 for an odd number of exchanges.
Tensor parity(const LuFactors& lu) {
  const std::int64_t count = lu.exchanges.size(-1);
  const Tensor moved = ne(lu.exchanges, arange(Scalar(1), Scalar(count + 1), kInt));
  return 1 - remainder(sum(moved, -1), 2) * 2;
}

Tensor determinant(const char* name, const Tensor& a) {
  const LuFactors lu = lu_factors(name, a, true, true);
  return prod(diagonal(lu.factors, 0, -2, -1), -1) * parity(lu).to(type_of(a).dtype);
}
std::tuple<Tensor, Tensor> log_determinant(const char* name, const Tensor& a) {
  const LuFactors lu = lu_factors(name, a, true, true);
  const Tensor pivots = diagonal(lu.factors, 0, -2, -1);
  const Tensor signs = prod(sign(pivots.detach()), -1) * parity(lu).to(type_of(a).dtype);
  return {signs, sum(log(abs(pivots)), -1)};
}

}  // namespace

Tensor linalg_solve(Arg A, const Tensor& B, bool left) {
  const SiteScope scope(A.site);
  const Solved found = solved("linalg_solve", *A.tensor, B, left);
  return verified(found.x, found.info, Refusal::kSingular);
}
std::tuple<Tensor, Tensor> linalg_solve_ex(Arg A, const Tensor& B, bool left, bool check_errors) {
  const SiteScope scope(A.site);
  const Solved found = solved("linalg_solve_ex", *A.tensor, B, left);
  return {check_errors ? verified(found.x, found.info, Refusal::kSingular) : found.x, found.info};
}

Tensor linalg_inv(Arg A) {
  const SiteScope scope(A.site);
  const Solved found = inverted("linalg_inv", *A.tensor);
  return verified(found.x, found.info, Refusal::kSingular);
}
std::tuple<Tensor, Tensor> linalg_inv_ex(Arg A, bool check_errors) {
  const SiteScope scope(A.site);
  const Solved found = inverted("linalg_inv_ex", *A.tensor);
  return {check_errors ? verified(found.x, found.info, Refusal::kSingular) : found.x, found.info};
}
Tensor inverse(Arg self) {
  const SiteScope scope(self.site);
  const Solved found = inverted("inverse", *self.tensor);
  return verified(found.x, found.info, Refusal::kSingular);
}

Tensor linalg_det(Arg A) {
  const SiteScope scope(A.site);
  return determinant("linalg_det", *A.tensor);
}
Tensor det(Arg self) {
  const SiteScope scope(self.site);
  return determinant("det", *self.tensor);
}
std::tuple<Tensor, Tensor> linalg_slogdet(Arg A) {
  const SiteScope scope(A.site);
  return log_determinant("linalg_slogdet", *A.tensor);
}
std::tuple<Tensor, Tensor> slogdet(Arg self) {
  const SiteScope scope(self.site);
  return log_determinant("slogdet", *self.tensor);
}
Tensor logdet(Arg self) {
  const SiteScope scope(self.site);
  const auto [signs, logarithm] = log_determinant("logdet", *self.tensor);
  return where(eq(signs, -1), NAN, logarithm);
}

Tensor linalg_tensorinv(Arg self, std::int64_t ind) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("linalg_tensorinv", *self.tensor).geometry.sizes;
  const auto rank = static_cast<std::int64_t>(sizes.size());
  GROOVE_CHECK(ind > 0 && ind < rank, "linalg_tensorinv: ind {} of {} axes", ind, rank);
  const auto split = static_cast<std::size_t>(ind);
  const IntArrayRef first = IntArrayRef(sizes).slice(0, split);
  const IntArrayRef last = IntArrayRef(sizes).slice(split);
  const std::int64_t rows = element_count(first), columns = element_count(last);
  GROOVE_CHECK(rows == columns, "linalg_tensorinv: {} elements against {} in shape {}", rows,
               columns, to_string(sizes));
  const Solved found = inverted("linalg_tensorinv", reshape(self, {rows, columns}));
  Shape turned(last);
  for (const std::int64_t size : first) turned.push_back(size);
  return reshape(verified(found.x, found.info, Refusal::kSingular), turned);
}

Tensor linalg_tensorsolve(Arg self, const Tensor& other, OptionalIntArrayRef dims) {
  const SiteScope scope(self.site);
  const char* name = "linalg_tensorsolve";
  Tensor a = *self.tensor;
  const auto rank = static_cast<std::int64_t>(checked(name, a).geometry.sizes.size());
  const Shape sides = checked(name, other).geometry.sizes;
  if (dims) {  // these axes go to the end
    const Shape moved = normal_dims(name, *dims, static_cast<std::size_t>(rank));
    Shape order;
    for (std::int64_t axis = 0; axis < rank; ++axis)
      if (std::find(moved.begin(), moved.end(), axis) == moved.end()) order.push_back(axis);
    for (const std::int64_t axis : *dims) order.push_back(axis < 0 ? axis + rank : axis);
    a = permute(a, order);
  }
  const Shape sizes = type_of(a).sizes;
  GROOVE_CHECK(sizes.size() >= sides.size(), "{}: A {} and B {} do not fit", name, to_string(sizes),
               to_string(sides));
  const Shape result(IntArrayRef(sizes).slice(sides.size()));
  const std::int64_t columns = element_count(result);
  GROOVE_CHECK(element_count(sides) == columns && element_count(sizes) == columns * columns,
               "{}: A {} and B {} do not fit", name, to_string(sizes), to_string(sides));
  const Solved found =
      solved(name, reshape(a, {columns, columns}), reshape(other, {columns}), true);
  return reshape(verified(found.x, found.info, Refusal::kSingular), result);
}

Tensor LinearAlgebraMethods::inverse(Site site) const { return groove::inverse({self(), site}); }
Tensor LinearAlgebraMethods::det(Site site) const { return groove::det({self(), site}); }
std::tuple<Tensor, Tensor> LinearAlgebraMethods::slogdet(Site site) const {
  return groove::slogdet({self(), site});
}
Tensor LinearAlgebraMethods::logdet(Site site) const { return groove::logdet({self(), site}); }

}  // namespace groove
