// pinv: the Moore-Penrose inverse from singular values, and what else depends on how many of them
// count: rank and least squares. Its slope is Golub and Pereyra's (1973), which needs no gaps
// between singular values.
#include <cmath>
#include <limits>

#include "groove/ops/index.h"
#include "kernels/ops/spectrum.h"

namespace groove {
namespace {

double epsilon_of(ScalarType dtype) {
  return dtype == kDouble ? std::numeric_limits<double>::epsilon()
                          : static_cast<double>(std::numeric_limits<float>::epsilon());
}
double default_tolerance(const Type& type) {
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  return epsilon_of(type.dtype) * static_cast<double>(std::max(rows, columns));
}

enum { kA, kBound, kU, kS, kV };
// Of A = U S V^T and what a singular value must be above, [..]. A is there for the slope.
const Op& op = define({
    .name = "pinv",
    .kind = OpKind::kComposite,
    .inputs = 5,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      const Type& a = s.inputs[kA];
      check_matrices("pinv", a, false);
      const std::int64_t rows = a.sizes[a.sizes.size() - 2], columns = a.sizes.back();
      const auto check = [&](std::size_t input, IntArrayRef last) {
        GROOVE_CHECK(s.inputs[input] == (Type{a.dtype, batch_with(a.sizes, last)}),
                     "pinv: input {} of {} {} for {} {}", input, name(s.inputs[input].dtype),
                     to_string(s.inputs[input].sizes), name(a.dtype), to_string(a.sizes));
      };
      const std::int64_t k = std::min(rows, columns);
      check(kBound, {});
      check(kU, {rows, k});
      check(kS, {k});
      check(kV, {columns, k});
      return {{{a.dtype, batch_with(a.sizes, {columns, rows})}}, a.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature&, ArrayRef<Tensor> inputs) {
          const Tensor& s = inputs[kS];
          const Tensor counts = gt(s, unsqueeze(inputs[kBound], -1));
          const Tensor inverse = masked_fill(1 / s, logical_not(counts), 0);
          return Tensors{matmul(inputs[kV] * unsqueeze(inverse, -2), mirrored(inputs[kU]))};
        }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(5);
          if (!g.needs[kA]) return result;
          const Tensor &a = g.input(kA), &p = g.output();
          const Tensor other = mirrored(g.cotangent()), turned = mirrored(p);
          const Tensor beside = other - matmul(a, matmul(p, other));
          const Tensor across = other - matmul(other, matmul(p, a));
          result[kA] = neg(matmul(turned, matmul(g.cotangent(), turned))) +
                       matmul(matmul(beside, p), turned) + matmul(turned, matmul(p, across));
          return result;
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
});

// Of x, without history. Where it is its own mirror image, values are in any order.
Singular factors_of(const char* name, const Tensor& x, bool hermitian) {
  checked_matrices(name, x, hermitian);
  const Tensor plain = x.detach();
  if (!hermitian) return singular_decomposition(name, plain);
  const auto [values, vectors] = linalg_eigh(plain);
  return {vectors * unsqueeze(sign(values), -2), abs(values), vectors};
}

struct Tolerance {
  Tensor absolute, relative;  // undefined: not given
};
Tolerance of_numbers(const Tensor& x, std::optional<double> absolute,
                     std::optional<double> relative) {
  const TensorOptions options(type_of(x).dtype);
  return {absolute ? full({}, *absolute, options) : Tensor(),
          relative ? full({}, *relative, options) : Tensor()};
}

// What a singular value must be above: max(atol, rtol * the greatest).
Tensor bound_of(const Tensor& x, const Tensor& values, Tolerance tolerance) {
  const Type type = type_of(x);
  const Tensor greatest = amax(values, -1);
  if (!tolerance.relative.defined()) {
    const Tensor given = full({}, default_tolerance(type), TensorOptions(type.dtype));
    tolerance.relative =
        tolerance.absolute.defined() ? where(gt(tolerance.absolute, 0), 0.0, given) : given;
  }
  const Tensor relative = tolerance.relative.to(type.dtype) * greatest;
  return tolerance.absolute.defined() ? maximum(tolerance.absolute.to(type.dtype), relative)
                                      : relative;
}

Tensor inverted(const Tensor& x, const Singular& found, const Tolerance& tolerance,
                bool hermitian = false) {
  const Type type = type_of(x);
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  if (rows == 0 || columns == 0)
    return zeros(batch_with(type.sizes, {columns, rows}), TensorOptions(type.dtype));
  const Tensor bound = bound_of(x, found.s, tolerance);
  // the other triangle is not read, but has its share of the slope
  const Tensor whole = hermitian ? x + (tril(x) + mirrored(tril(x, -1)) - x).detach() : x;
  return call(op, {whole, expand(bound, batch_with(type.sizes, {})), found.u, found.s, found.v},
              Site::current());
}
Tensor inverted(const char* name, const Tensor& x, const Tolerance& tolerance, bool hermitian) {
  return inverted(x, factors_of(name, x, hermitian), tolerance, hermitian);
}

Tensor rank_of(const Tensor& x, const Tensor& values, const Tolerance& tolerance) {
  const Type type = type_of(x);
  if (element_count(type.sizes) == 0)
    return zeros(batch_with(type.sizes, {}), TensorOptions(kLong));
  return sum(gt(values, unsqueeze(bound_of(x, values, tolerance), -1)), -1);
}
Tensor rank_of(const char* name, const Tensor& x, const Tolerance& tolerance, bool hermitian) {
  return rank_of(x, factors_of(name, x, hermitian).s, tolerance);
}

Tensor or_undefined(const std::optional<Tensor>& tensor) { return tensor ? *tensor : Tensor(); }

}  // namespace

Tensor linalg_pinv(Arg self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                   bool hermitian) {
  const SiteScope scope(self.site);
  return inverted("linalg_pinv", *self.tensor, {or_undefined(atol), or_undefined(rtol)}, hermitian);
}
Tensor linalg_pinv(Arg self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  const SiteScope scope(self.site);
  checked("linalg_pinv", *self.tensor);
  return inverted("linalg_pinv", *self.tensor, of_numbers(*self.tensor, atol, rtol), hermitian);
}
Tensor linalg_pinv(Arg self, double rcond, bool hermitian) {
  const SiteScope scope(self.site);
  checked("linalg_pinv", *self.tensor);
  return inverted("linalg_pinv", *self.tensor, of_numbers(*self.tensor, 0.0, rcond), hermitian);
}
Tensor pinverse(Arg self, double rcond) {
  const SiteScope scope(self.site);
  checked("pinverse", *self.tensor);
  return inverted("pinverse", *self.tensor, of_numbers(*self.tensor, 0.0, rcond), false);
}
Tensor LinearAlgebraMethods::pinverse(double rcond, Site site) const {
  return groove::pinverse({self(), site}, rcond);
}

Tensor linalg_matrix_rank(Arg self, const std::optional<Tensor>& atol,
                          const std::optional<Tensor>& rtol, bool hermitian) {
  const SiteScope scope(self.site);
  return rank_of("linalg_matrix_rank", *self.tensor, {or_undefined(atol), or_undefined(rtol)},
                 hermitian);
}
Tensor linalg_matrix_rank(Arg self, std::optional<double> atol, std::optional<double> rtol,
                          bool hermitian) {
  const SiteScope scope(self.site);
  checked("linalg_matrix_rank", *self.tensor);
  return rank_of("linalg_matrix_rank", *self.tensor, of_numbers(*self.tensor, atol, rtol),
                 hermitian);
}
Tensor linalg_matrix_rank(Arg self, double tol, bool hermitian) {
  const SiteScope scope(self.site);
  checked("linalg_matrix_rank", *self.tensor);
  return rank_of("linalg_matrix_rank", *self.tensor, of_numbers(*self.tensor, tol, 0.0), hermitian);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(Arg self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  const SiteScope scope(self.site);
  const char* name = "linalg_lstsq";
  const Tensor& a = *self.tensor;
  const Type type = checked_matrices(name, a, false);
  const std::string_view way = driver.value_or("gelsy");
  GROOVE_CHECK(way == "gels" || way == "gelsy" || way == "gelsd" || way == "gelss",
               "{}: driver \"{}\"; it must be \"gels\", \"gelsy\", \"gelsd\" or \"gelss\"", name,
               way);
  Shape without_columns = type.sizes;
  without_columns.erase(without_columns.size() - 1);
  const bool are_vectors = checked(name, b).geometry.sizes == without_columns;
  const Tensor sides = are_vectors ? unsqueeze(b, -1) : b;
  const Type side = checked_matrices(name, sides, false);
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  GROOVE_CHECK(side.dtype == type.dtype && side.sizes[side.sizes.size() - 2] == rows,
               "{}: A {} {} and b {} {} do not fit", name, groove::name(type.dtype),
               to_string(type.sizes), groove::name(side.dtype), to_string(side.sizes));
  const Tolerance tolerance = of_numbers(a, std::nullopt, rcond.value_or(default_tolerance(type)));
  const Singular found = factors_of(name, a, false);
  const Tensor solution = matmul(inverted(a, found, tolerance), sides);
  const TensorOptions options(type.dtype);
  Tensor residuals = empty({0}, options), rank = empty({0}, TensorOptions(kLong)),
         values = empty({0}, options);
  if (rows > columns && way != "gelsy") residuals = sum(square(matmul(a, solution) - sides), -2);
  if (way != "gels") rank = rank_of(a, found.s, tolerance);
  if (way == "gelsd" || way == "gelss") values = found.s;
  return {are_vectors ? squeeze(solution, -1) : solution,
          are_vectors && residuals.dim() > 0 && rows > columns && way != "gelsy"
              ? squeeze(residuals, -1)
              : residuals,
          rank, values};
}

}  // namespace groove
