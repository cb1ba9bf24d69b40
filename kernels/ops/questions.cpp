// Questions about single elements that are spelled with others.
#include <cmath>

#include "groove/ops/complex.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

Tensor is_number(const char* op, Arg self, double number) {
  const SiteScope scope(self.site, op);
  checked(op, *self.tensor);
  return eq(self, number);
}

// What is worth looking up among sorted elements: others, and pairs with them.
constexpr std::int64_t kManyOthers = 128, kManyPairs = 1 << 20;

// Each against the first of the sorted others that is not below it. NaN, which is equal to nothing,
// makes room for one of the numbers.
Tensor looked_up(const Tensor& elements, const Tensor& row) {
  const Tensor numbers =
      is_floating(row.scalar_type()) ? where(isnan(row), nanmedian(row), row) : row;
  const Tensor sorted = std::get<0>(sort(numbers, 0)), flat = flatten(elements);
  const Tensor place = clamp_max(searchsorted(sorted, flat), row.numel() - 1);
  return reshape(eq(index_select(sorted, 0, place), flat), elements.sizes());
}

Tensor among(Arg elements, const Tensor& others, bool invert) {
  const Tensor &x = *elements.tensor, row = others.reshape({-1}, elements.site);
  const bool is_numeric = x.scalar_type() != kBool || row.scalar_type() != kBool;
  const bool are_many =
      row.numel() >= kManyOthers && x.numel() >= kManyPairs / row.numel() && is_numeric;
  const Tensor found = are_many ? looked_up(x.detach(), row.detach())
                                : any(eq(x.unsqueeze(-1, elements.site), row), -1);
  return invert ? logical_not(found) : found;
}

}  // namespace

Tensor isposinf(Arg self) { return is_number("isposinf", self, INFINITY); }
Tensor isneginf(Arg self) { return is_number("isneginf", self, -INFINITY); }
Tensor isreal(Arg self) {
  const SiteScope scope(self.site);
  const TensorImpl& impl = checked("isreal", *self.tensor);
  return impl.complex ? eq(imag(*self.tensor), 0) : ones(impl.geometry.sizes, kBool, self.site);
}

Tensor isclose(Arg self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("isclose", *self.tensor).dtype;
  GROOVE_CHECK(dtype == checked("isclose", other).dtype,
               "isclose: dtypes {} and {} differ; convert with to()", name(dtype),
               name(other.impl()->dtype));
  GROOVE_CHECK(rtol >= 0 && atol >= 0, "isclose: rtol {} and atol {} must not be negative", rtol,
               atol);
  const Tensor &x = *self.tensor, &y = other;
  const bool is_whole = is_integral(dtype) || dtype == kBool;
  Tensor result = eq(x, y);  // infinities too
  if (equal_nan && !is_whole) result = logical_or(result, logical_and(isnan(x), isnan(y)));
  if (dtype == kBool || (rtol == 0 && atol == 0)) return result;
  const Tensor a = is_whole ? x.to(kDouble) : x, b = is_whole ? y.to(kDouble) : y;
  const Tensor distance = abs(a - b);
  const Tensor is_near = le(distance, abs(b * rtol) + atol);
  return logical_or(result, logical_and(isfinite(distance), is_near));
}

Tensor isin(Arg elements, const Tensor& test_elements, bool, bool invert) {
  const SiteScope scope(elements.site);
  checked("isin", *elements.tensor);
  checked("isin", test_elements);
  return among(elements, test_elements, invert);
}
Tensor isin(Arg elements, Scalar test_element, bool, bool invert) {
  const SiteScope scope(elements.site);
  checked("isin", *elements.tensor);
  return invert ? ne(elements, test_element) : eq(elements, test_element);
}
Tensor isin(Scalar element, Arg test_elements, bool, bool invert) {
  const SiteScope scope(test_elements.site);
  checked("isin", *test_elements.tensor);
  const Tensor found = any(eq(test_elements, element));
  return invert ? logical_not(found) : found;
}

Tensor ElementwiseMethods::isposinf(Site site) const { return groove::isposinf({self(), site}); }
Tensor ElementwiseMethods::isneginf(Site site) const { return groove::isneginf({self(), site}); }
Tensor ElementwiseMethods::isreal(Site site) const { return groove::isreal({self(), site}); }
Tensor ElementwiseMethods::isclose(const Tensor& other, double rtol, double atol, bool equal_nan,
                                   Site site) const {
  return groove::isclose({self(), site}, other, rtol, atol, equal_nan);
}

}  // namespace groove
