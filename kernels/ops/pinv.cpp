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

// Input 1: [..], what a singular value must be above.
const Op& op = define({
    .name = "pinv",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_matrices("pinv", s.inputs[0], false);
      const Shape& sizes = s.inputs[0].sizes;
      GROOVE_CHECK(s.inputs[1] == (Type{s.inputs[0].dtype, batch_with(sizes, {})}),
                   "pinv: a bound of {} {} for {} {}", name(s.inputs[1].dtype),
                   to_string(s.inputs[1].sizes), name(s.inputs[0].dtype), to_string(sizes));
      return {{{s.inputs[0].dtype, batch_with(sizes, {sizes.back(), sizes[sizes.size() - 2]})}},
              s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature&, ArrayRef<Tensor> inputs) {
          const auto [u, s, v] = svd(inputs[0]);
          const Tensor counts = gt(s, unsqueeze(inputs[1], -1));
          const Tensor inverse = masked_fill(1 / s, logical_not(counts), 0);
          return Tensors{matmul(v * unsqueeze(inverse, -2), mirrored(u))};
        }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (!g.needs[0]) return result;
          const Tensor &a = g.input(0), &p = g.output();
          const Tensor other = mirrored(g.cotangent()), turned = mirrored(p);
          const Tensor beside = other - matmul(a, matmul(p, other));
          const Tensor across = other - matmul(other, matmul(p, a));
          result[0] = neg(matmul(turned, matmul(g.cotangent(), turned))) +
                      matmul(matmul(beside, p), turned) + matmul(turned, matmul(p, across));
          return result;
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
});

// The singular values (magnitudes of eigenvalues) of x, without history.
Tensor magnitudes(const char* name, const Tensor& x, bool hermitian) {
  const Tensor plain = x.detach();
  return hermitian ? abs(linalg_eigvalsh(plain)) : singular_values(name, plain);
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

Tensor inverted(const char* name, const Tensor& x, const Tolerance& tolerance, bool hermitian) {
  const Type type = checked_matrices(name, x, hermitian);
  const std::int64_t rows = type.sizes[type.sizes.size() - 2], columns = type.sizes.back();
  if (rows == 0 || columns == 0)
    return zeros(batch_with(type.sizes, {columns, rows}), TensorOptions(type.dtype));
  const Tensor bound = bound_of(x, magnitudes(name, x, hermitian), tolerance);
  // the other triangle is not read, but has its share of the slope
  const Tensor whole = hermitian ? x + (tril(x) + mirrored(tril(x, -1)) - x).detach() : x;
  return call(op, {whole, expand(bound, batch_with(type.sizes, {}))}, Site::current());
}

Tensor rank_of(const char* name, const Tensor& x, const Tolerance& tolerance, bool hermitian) {
  const Type type = checked_matrices(name, x, hermitian);
  if (element_count(type.sizes) == 0)
    return zeros(batch_with(type.sizes, {}), TensorOptions(kLong));
  const Tensor values = magnitudes(name, x, hermitian);
  return sum(gt(values, unsqueeze(bound_of(x, values, tolerance), -1)), -1);
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
  const Tensor solution = matmul(inverted(name, a, tolerance, false), sides);
  const TensorOptions options(type.dtype);
  Tensor residuals = empty({0}, options), rank = empty({0}, TensorOptions(kLong)),
         values = empty({0}, options);
  if (rows > columns && way != "gelsy") residuals = sum(square(matmul(a, solution) - sides), -2);
  if (way != "gels") rank = rank_of(name, a, tolerance, false);
  if (way == "gelsd" || way == "gelss") values = singular_values(name, a.detach());
  return {are_vectors ? squeeze(solution, -1) : solution,
          are_vectors && residuals.dim() > 0 && rows > columns && way != "gelsy"
              ? squeeze(residuals, -1)
              : residuals,
          rank, values};
}

}  // namespace groove
