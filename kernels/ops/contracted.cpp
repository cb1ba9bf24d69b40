// tensordot, inner, vdot, kron, cross, chains and powers of matrices: products spelled with those
// of matrices and with views.
#include <algorithm>
#include <limits>

#include "groove/ops/complex.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/linear_algebra.h"
#include "groove/ops/products.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// The axes that are not listed, in order.
Shape others(IntArrayRef listed, std::size_t rank) {
  Shape result;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
    if (std::find(listed.begin(), listed.end(), axis) == listed.end()) result.push_back(axis);
  return result;
}
Shape joined_axes(const Shape& first, const Shape& second) {
  Shape result = first;
  for (const std::int64_t axis : second) result.push_back(axis);
  return result;
}
Shape sizes_of(const Shape& sizes, const Shape& axes) {
  Shape result;
  for (const std::int64_t axis : axes) result.push_back(sizes[static_cast<std::size_t>(axis)]);
  return result;
}
Shape listed_axes(const char* op, IntArrayRef dims, std::size_t rank) {
  normal_dims(op, dims, rank);  // throws on a double one
  Shape result;
  for (const std::int64_t dim : dims) result.push_back(normal_dim(op, dim, rank));
  return result;
}

Tensor cross_product(const char* op, const Tensor& a, const Tensor& b, std::int64_t dim) {
  const Shape &left = type_of(a).sizes, &right = type_of(b).sizes;
  GROOVE_CHECK(left.size() == right.size() && !left.empty(),
               "{}: shapes {} and {} must have as many axes", op, to_string(left),
               to_string(right));
  const auto axis = static_cast<std::size_t>(normal_dim(op, dim, left.size()));
  GROOVE_CHECK(left[axis] == 3 && right[axis] == 3,
               "{}: shapes {} and {} must have size 3 along dim {}", op, to_string(left),
               to_string(right), dim);
  broadcast_of(op, left, right);
  const auto place = static_cast<std::int64_t>(axis);
  const auto ahead = [place](const Tensor& x, std::int64_t by) { return roll(x, -by, place); };
  return ahead(a, 1) * ahead(b, 2) - ahead(a, 2) * ahead(b, 1);
}

// Matrix i has sizes[i] rows and sizes[i + 1] columns; split[i][j] is where the product of i … j is
// best taken apart.
using Splits = std::vector<std::vector<std::size_t>>;
Splits best_splits(const std::vector<double>& sizes) {
  const std::size_t count = sizes.size() - 1;
  std::vector<std::vector<double>> cost(count, std::vector<double>(count, 0.0));
  Splits split(count, std::vector<std::size_t>(count, 0));
  for (std::size_t length = 2; length <= count; ++length) {
    for (std::size_t i = 0; i + length <= count; ++i) {
      const std::size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double total = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (total >= cost[i][j]) continue;
        cost[i][j] = total;
        split[i][j] = k;
      }
    }
  }
  return split;
}
Tensor chain(const Tensors& matrices, const Splits& split, std::size_t i, std::size_t j) {
  if (i == j) return matrices[i];
  const std::size_t k = split[i][j];
  return mm(chain(matrices, split, i, k), chain(matrices, split, k + 1, j));
}
Tensor chain_of(const char* op, const Tensors& matrices) {
  std::vector<double> sizes;
  for (const Tensor& matrix : matrices) {
    const Shape& own = checked(op, matrix).geometry.sizes;
    GROOVE_CHECK(own.size() == 2, "{}: shape {} is no matrix", op, to_string(own));
    if (sizes.empty()) sizes.push_back(static_cast<double>(own[0]));
    GROOVE_CHECK(sizes.back() == static_cast<double>(own[0]),
                 "{}: {} columns against the rows of {}", op, sizes.back(), to_string(own));
    sizes.push_back(static_cast<double>(own[1]));
  }
  return chain(matrices, best_splits(sizes), 0, matrices.size() - 1);
}

Tensor power(const char* op, const Tensor& a, std::int64_t n) {
  const Type type{checked(op, a).dtype, type_of(a).sizes};
  const std::size_t rank = type.sizes.size();
  GROOVE_CHECK(rank >= 2 && type.sizes[rank - 2] == type.sizes[rank - 1],
               "{}: shape {} holds no square matrices", op, to_string(type.sizes));
  if (n == 0) return clone(expand(eye(type.sizes.back(), TensorOptions(type.dtype)), type.sizes));
  if (n < 0) return power(op, linalg_inv(a), -n);
  if (n == 1) return clone(a);
  Tensor result, square = a;
  for (; n > 0; n /= 2) {
    if (n % 2) result = result.defined() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return result;
}

}  // namespace

Tensor tensordot(Arg self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  const SiteScope scope(self.site);
  Tensor a = *self.tensor, b = other;
  const std::size_t a_rank = checked("tensordot", a).geometry.sizes.size();
  const std::size_t b_rank = checked("tensordot", b).geometry.sizes.size();
  GROOVE_CHECK(dims_self.size() == dims_other.size(), "tensordot: {} axes of self for {} of other",
               dims_self.size(), dims_other.size());
  const Shape left = listed_axes("tensordot", dims_self, a_rank);
  const Shape right = listed_axes("tensordot", dims_other, b_rank);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t m = a.size(left[i]), n = b.size(right[i]);
    if (m == 1) b = sum(b, right[i], true);
    if (n == 1) a = sum(a, left[i], true);
    GROOVE_CHECK(m == n || m == 1 || n == 1, "tensordot: dim {} of {} and dim {} of {} differ",
                 left[i], to_string(type_of(a).sizes), right[i], to_string(type_of(b).sizes));
  }
  const Shape a_sizes = type_of(a).sizes, b_sizes = type_of(b).sizes;
  const Shape a_kept = others(left, a_rank), b_kept = others(right, b_rank);
  const std::int64_t inside = element_count(sizes_of(a_sizes, left));
  const Shape rows = sizes_of(a_sizes, a_kept), columns = sizes_of(b_sizes, b_kept);
  const Tensor product =
      mm(reshape(permute(a, joined_axes(a_kept, left)), {element_count(rows), inside}),
         reshape(permute(b, joined_axes(right, b_kept)), {inside, element_count(columns)}));
  return reshape(product, joined_axes(rows, columns));
}

Tensor inner(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  const Shape a = checked("inner", *self.tensor).geometry.sizes;
  const Shape b = checked("inner", other).geometry.sizes;
  if (a.empty() || b.empty()) return mul(*self.tensor, other);
  GROOVE_CHECK(a.back() == b.back(), "inner: the last axes of {} and {} differ", to_string(a),
               to_string(b));
  return tensordot(*self.tensor, other, -1, -1);
}

Tensor vdot(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  checked("vdot", *self.tensor);
  return dot({conj(self), self.site}, other);
}

Tensor kron(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  const Shape a = checked("kron", *self.tensor).geometry.sizes;
  const Shape b = checked("kron", other).geometry.sizes;
  const std::size_t rank = std::max(a.size(), b.size());
  Shape left, right, sizes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t a_missing = rank - a.size(), b_missing = rank - b.size();
    const std::int64_t m = axis < a_missing ? 1 : a[axis - a_missing];
    const std::int64_t n = axis < b_missing ? 1 : b[axis - b_missing];
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    sizes.push_back(m * n);
  }
  return reshape(mul(reshape(*self.tensor, left), reshape(other, right)), sizes);
}

Tensor linalg_cross(Arg self, const Tensor& other, std::int64_t dim) {
  const SiteScope scope(self.site);
  checked("linalg_cross", *self.tensor);
  checked("linalg_cross", other);
  return cross_product("linalg_cross", *self.tensor, other, dim);
}
Tensor cross(Arg self, const Tensor& other, std::optional<std::int64_t> dim) {
  const SiteScope scope(self.site);
  const Shape& sizes = checked("cross", *self.tensor).geometry.sizes;
  checked("cross", other);
  if (!dim) {
    const auto* const found = std::find(sizes.begin(), sizes.end(), 3);
    GROOVE_CHECK(found != sizes.end(), "cross: shape {} has no axis of size 3", to_string(sizes));
    dim = found - sizes.begin();
  }
  return cross_product("cross", *self.tensor, other, *dim);
}

Tensor chain_matmul(TensorList matrices, Site site) {
  const SiteScope scope(site);
  GROOVE_CHECK(!matrices.empty(), "chain_matmul: there are no matrices; give at least one");
  return chain_of("chain_matmul", matrices.vec());
}
Tensor linalg_multi_dot(TensorList tensors, Site site) {
  const SiteScope scope(site);
  const char* name = "linalg_multi_dot";
  GROOVE_CHECK(tensors.size() >= 2, "{}: {} tensors; there must be at least two", name,
               tensors.size());
  Tensors matrices = tensors.vec();
  for (const Tensor& matrix : matrices) checked(name, matrix);
  const bool is_row = matrices.front().dim() == 1, is_column = matrices.back().dim() == 1;
  if (is_row) matrices.front() = unsqueeze(matrices.front(), 0);
  if (is_column) matrices.back() = unsqueeze(matrices.back(), 1);
  Tensor result = chain_of(name, matrices);
  if (is_row) result = squeeze(result, 0);
  return is_column ? squeeze(result, -1) : result;
}

Tensor linalg_matmul(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  return matmul(self, other);
}
Tensor matrix_power(Arg self, std::int64_t n) {
  const SiteScope scope(self.site);
  return power("matrix_power", *self.tensor, n);
}
Tensor linalg_matrix_power(Arg self, std::int64_t n) {
  const SiteScope scope(self.site);
  return power("linalg_matrix_power", *self.tensor, n);
}

Tensor linalg_diagonal(Arg self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const CallFrame frame(self.site);
  return diagonal(self, offset, dim1, dim2);
}
Tensor linalg_vecdot(Arg x, const Tensor& y, std::int64_t dim) {
  const SiteScope scope(x.site);
  GROOVE_CHECK(checked("linalg_vecdot", *x.tensor).dtype == checked("linalg_vecdot", y).dtype,
               "linalg_vecdot: dtypes {} and {} must be equal", name(x.tensor->scalar_type()),
               name(y.scalar_type()));
  return sum(mul(*x.tensor, y), dim);
}

Tensor LinearAlgebraMethods::inner(const Tensor& other, Site site) const {
  return groove::inner({self(), site}, other);
}
Tensor LinearAlgebraMethods::vdot(const Tensor& other, Site site) const {
  return groove::vdot({self(), site}, other);
}
Tensor LinearAlgebraMethods::kron(const Tensor& other, Site site) const {
  return groove::kron({self(), site}, other);
}
Tensor LinearAlgebraMethods::cross(const Tensor& other, std::optional<std::int64_t> dim,
                                   Site site) const {
  return groove::cross({self(), site}, other, dim);
}
Tensor LinearAlgebraMethods::matrix_power(std::int64_t n, Site site) const {
  return groove::matrix_power({self(), site}, n);
}

}  // namespace groove
