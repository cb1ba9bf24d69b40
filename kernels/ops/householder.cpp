// geqrf, and products of its reflections: linalg_householder_product, orgqr and ormqr.
#include "kernels/ops/matrix_lines.h"

namespace groove {
namespace {

enum { kA, kTau };

void factor(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  Matrix columns = transposed(inputs[0]);
  const double unit_size = lines::normalise(columns);
  const std::vector<double> scales = lines::triangularise(columns);
  Matrix &a = outputs[kA], &tau = outputs[kTau];
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) a(i, j) = columns(j, i) * (i <= j ? unit_size : 1);
  for (std::size_t k = 0; k < scales.size(); ++k)
    if (k < tau.values.size()) tau.values[k] = scales[k];
}

// For tests: column by column, with sums in order.
void reference(const AttrReader&, const Matrices& inputs, Matrices& outputs) {
  Matrix& a = outputs[kA];
  a = inputs[0];
  for (std::int64_t k = 0; k < std::min(a.rows - 1, a.columns); ++k) {
    double squares = 0, below = 0;
    for (std::int64_t i = k; i < a.rows; ++i) squares += a(i, k) * a(i, k);
    for (std::int64_t i = k + 1; i < a.rows; ++i) below += a(i, k) * a(i, k);
    if (below == 0) continue;
    const double turned = -std::copysign(std::sqrt(squares), a(k, k));
    const double tau = (turned - a(k, k)) / turned, first = a(k, k) - turned;
    for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= first;
    a(k, k) = turned;
    for (std::int64_t j = k + 1; j < a.columns; ++j) {
      double share = a(k, j);
      for (std::int64_t i = k + 1; i < a.rows; ++i) share += a(i, k) * a(i, j);
      a(k, j) -= tau * share;
      for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, j) -= tau * share * a(i, k);
    }
    outputs[kTau](0, k) = tau;
  }
}

const Op& op = define({
    .name = "geqrf",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_matrices("geqrf", s.inputs[0], false);
      const Shape& sizes = s.inputs[0].sizes;
      const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
      const ScalarType dtype = s.inputs[0].dtype;
      return {{s.inputs[0], {dtype, batch_with(sizes, {std::min(rows, columns)})}}, dtype};
    },
    .lowering = matrix_lowering(factor),
    .has_inplace = false,
    .reference = matrix_reference(reference),
    .domain = {0.5, 2},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes :
               {Shape{3, 3}, Shape{5, 3}, Shape{3, 4}, Shape{2, 4, 2}, Shape{1, 1}, Shape{0, 2}})
            samples.push_back({{{dtype, sizes}}, {}, {}});
          return samples;
        },
    .tolerance_ulp = 256,
});

// The reflections' vectors as columns, with their leading 1 and 0 above it.
struct Reflections {
  Tensor vectors, tau;
  std::int64_t count;
};
Reflections reflections(const char* op, const Tensor& input, const Tensor& tau) {
  const Type type = checked_matrices(op, input, false),
             scales = {checked(op, tau).dtype, type_of(tau).sizes};
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  GROOVE_CHECK(rows >= columns, "{}: shape {} has more columns than rows", op,
               to_string(type.sizes));
  GROOVE_CHECK(
      !scales.sizes.empty() && scales.dtype == type.dtype && scales.sizes.back() <= columns &&
          batch_with(type.sizes, {scales.sizes.back()}) == scales.sizes,
      "{}: tau {} {} does not fit {} {}: a number for each of some columns", op, name(scales.dtype),
      to_string(scales.sizes), name(type.dtype), to_string(type.sizes));
  const Tensor ones = eye(rows, columns, TensorOptions(type.dtype));
  return {tril(input, -1) + ones, tau, scales.sizes.back()};
}

// (I - tau v v^T) x, or x (I - tau v v^T), one after the other.
Tensor reflected(const Reflections& by, Tensor x, bool left, bool from_last) {
  for (std::int64_t k = 0; k < by.count; ++k) {
    const std::int64_t at = from_last ? by.count - 1 - k : k;
    const Tensor v = narrow(by.vectors, -1, at, std::int64_t{1});
    const Tensor scale = unsqueeze(narrow(by.tau, -1, at, std::int64_t{1}), -1);
    x = left ? x - matmul(scale * v, matmul(mirrored(v), x))
             : x - matmul(matmul(x, scale * v), mirrored(v));
  }
  return x;
}

Tensor product(const char* op, const Tensor& input, const Tensor& tau) {
  const Reflections by = reflections(op, input, tau);
  const Type type = type_of(input);
  const Tensor start =
      eye(type.sizes[type.sizes.size() - 2], type.sizes.back(), TensorOptions(type.dtype));
  return reflected(by, expand(start, type.sizes), true, true);
}

}  // namespace

std::tuple<Tensor, Tensor> geqrf(Arg self) {
  const SiteScope scope(self.site);
  checked_matrices("geqrf", *self.tensor, false);
  const Tensors both = call_all(op, {self.tensor->detach()});
  return {both[kA], both[kTau]};
}
Tensor linalg_householder_product(Arg input, const Tensor& tau) {
  const SiteScope scope(input.site);
  return product("linalg_householder_product", *input.tensor, tau);
}
Tensor orgqr(Arg self, const Tensor& tau) {
  const SiteScope scope(self.site);
  return product("orgqr", *self.tensor, tau);
}
Tensor ormqr(Arg self, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  const SiteScope scope(self.site);
  checked_matrices("ormqr", other, false);
  const Reflections by = reflections("ormqr", *self.tensor, tau);
  const std::int64_t rows = self.tensor->size(-2), fitting = other.size(left ? -2 : -1);
  GROOVE_CHECK(rows == fitting, "ormqr: reflections of {} rows do not fit a side of {}", rows,
               fitting);
  return reflected(by, other, left, left != transpose);
}

std::tuple<Tensor, Tensor> LinearAlgebraMethods::geqrf(Site site) const {
  return groove::geqrf({self(), site});
}
Tensor LinearAlgebraMethods::orgqr(const Tensor& tau, Site site) const {
  return groove::orgqr({self(), site}, tau);
}
Tensor LinearAlgebraMethods::ormqr(const Tensor& tau, const Tensor& other, bool left,
                                   bool transpose, Site site) const {
  return groove::ormqr({self(), site}, tau, other, left, transpose);
}

}  // namespace groove
