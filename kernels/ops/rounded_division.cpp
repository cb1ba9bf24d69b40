// div with a rounding mode: quotients rounded down ("floor") or towards 0 ("trunc"). Integers stay
// integers.
#include <cmath>
#include <string_view>

#include "groove/ops/creation.h"
#include "kernels/ops/whole_division.h"

namespace groove {
namespace {

using kernels::Expr;

// Floating quotients are not floor(a / b), which may round up to the next integer first: the rest
// is taken off before the division, as Python and LibTorch do.
Expr floor_quotient(Expr a, Expr b) {
  const Expr rest = rest_of_division(a, b);
  const Expr is_below = ne(rest, 0.0) & (lt(rest, 0.0) ^ lt(b, 0.0));
  if (!is_floating(a.dtype())) {
    kernels::Builder& builder = a.builder();
    const Expr quotient = a / b;
    return select(is_below, quotient - builder.constant_int(a.dtype(), 1), quotient);
  }
  const Expr exact = (a - rest) / b;
  const Expr quotient = select(is_below, exact - 1.0, exact);
  const Expr down = floor(quotient);
  const Expr whole = select(gt(quotient - down, 0.5), down + 1.0, down);
  const Expr plain = a / b;
  const Expr signed_zero = plain * 0.0;
  return select(eq(b, 0.0), plain, select(eq(quotient, 0.0), signed_zero, whole));
}

Expr trunc_quotient(Expr a, Expr b) { return is_floating(a.dtype()) ? trunc(a / b) : a / b; }

double floor_reference(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  return std::round(quotient);
}
double trunc_reference(double a, double b) { return std::trunc(a / b); }

// A step function.
Tensors no_slope(const Grad& g) {
  Tensors result(g.input_types.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (g.needs[i]) result[i] = reduced_to(zeros_like(g.cotangent()), g.input_types[i]);
  return result;
}

const Op& op_floor = define_whole_division({
    .name = "div_floor",
    .body = floor_quotient,
    .gradient = no_slope,
    .reference = floor_reference,
    .domain = {1, 7},
    .tolerance_ulp = 0,
});
const Op& op_trunc = define_whole_division({
    .name = "div_trunc",
    .body = trunc_quotient,
    .gradient = no_slope,
    .reference = trunc_reference,
    .domain = {1, 7},
    .tolerance_ulp = 0,
});
const Op& op_floor_scalar = define(ScalarSpec{
    .name = "div_floor_scalar",
    .body = floor_quotient,
    .gradient = no_slope,
    .reference = floor_reference,
    .domain = {-7, 7},
    .type = whole_division_type,
    .numbers = {3, -2},
    .tolerance_ulp = 0,
});
const Op& op_trunc_scalar = define(ScalarSpec{
    .name = "div_trunc_scalar",
    .body = trunc_quotient,
    .gradient = no_slope,
    .reference = trunc_reference,
    .domain = {-7, 7},
    .type = whole_division_type,
    .numbers = {3, -2},
    .tolerance_ulp = 0,
});

void check_mode(std::string_view mode) {
  GROOVE_CHECK(mode == "floor" || mode == "trunc",
               "div: rounding_mode \"{}\" is none of \"floor\" and \"trunc\"", mode);
}

}  // namespace

Tensor div(Arg self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  const CallFrame frame(self.site);
  if (!rounding_mode) return div(self, other);
  check_mode(*rounding_mode);
  return call(*rounding_mode == "floor" ? op_floor : op_trunc, self, other);
}
Tensor div(Arg self, Scalar other, std::optional<std::string_view> rounding_mode) {
  const CallFrame frame(self.site);
  if (!rounding_mode) return div(self, other);
  check_mode(*rounding_mode);
  check_divisor("div", *self.tensor, other);
  return call(*rounding_mode == "floor" ? op_floor_scalar : op_trunc_scalar, self, other);
}
Tensor floor_divide(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  return div(self, other, "floor");
}
Tensor floor_divide(Arg self, Scalar other) {
  const CallFrame frame(self.site);
  return div(self, other, "floor");
}

Tensor MathMethods::div(const Tensor& other, std::optional<std::string_view> rounding_mode,
                        Site site) const {
  return groove::div({self(), site}, other, rounding_mode);
}
Tensor MathMethods::div(Scalar other, std::optional<std::string_view> rounding_mode,
                        Site site) const {
  return groove::div({self(), site}, other, rounding_mode);
}
Tensor MathMethods::floor_divide(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return groove::div({self(), site}, other, "floor");
}
Tensor MathMethods::floor_divide(Scalar other, Site site) const {
  const CallFrame frame(site);
  return groove::div({self(), site}, other, "floor");
}
Tensor& MathMethods::div_(const Tensor& other, std::optional<std::string_view> rounding_mode,
                          Site site) const {
  const CallFrame frame(site);
  if (!rounding_mode) return div_(other, site);
  check_mode(*rounding_mode);
  return call_inplace(*rounding_mode == "floor" ? op_floor : op_trunc, writable(self()), {other},
                      site);
}
Tensor& MathMethods::div_(Scalar other, std::optional<std::string_view> rounding_mode,
                          Site site) const {
  const CallFrame frame(site);
  if (!rounding_mode) return div_(other, site);
  check_mode(*rounding_mode);
  check_divisor("div_", self(), other);
  return call_inplace(*rounding_mode == "floor" ? op_floor_scalar : op_trunc_scalar,
                      writable(self()), {}, site, {}, other);
}
Tensor& InPlaceMethods::floor_divide_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return div_(other, "floor", site);
}
Tensor& InPlaceMethods::floor_divide_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return div_(other, "floor", site);
}

}  // namespace groove
