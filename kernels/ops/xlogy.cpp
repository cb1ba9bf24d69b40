// xlogy and xlog1py: self times log(other) or log(1 + other), 0 where self is 0 and other a number.
#include <cmath>

#include "groove/ops/special.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

using kernels::Expr;

Expr product(Expr x, Expr y, Expr logarithm) {
  const Expr zero = x.builder().constant(x.dtype(), 0);
  return select(kernels::eq(x, 0.0) & ~is_nan(y), zero, x * logarithm);
}

// `logarithm` is of y + `offset`.
Tensors gradient(const Grad& g, Tensor (*logarithm)(Arg), std::int64_t offset) {
  Tensors result(2);
  const Tensor &x = g.input(0), &y = g.input(1);
  if (g.needs[0]) {
    const Tensor is_nothing = logical_and(eq(x, 0), le(y, -offset));
    result[0] =
        reduced_to(mul(g.cotangent(), masked_fill(logarithm(y), is_nothing, 0)), g.input_types[0]);
  }
  if (g.needs[1])
    result[1] =
        reduced_to(div(mul(g.cotangent(), x), offset == 0 ? y : y + offset), g.input_types[1]);
  return result;
}

const Op& op = define(BinarySpec{
    .name = "xlogy",
    .body = [](Expr x, Expr y) { return product(x, y, kernels::log(y)); },
    .gradient = [](const Grad& g) { return gradient(g, log, 0); },
    .saves_inputs = 3,
    .reference = [](double x, double y) { return x == 0 ? 0 : x * std::log(y); },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .tolerance_ulp = 3,
});

const Op& op_one_more = define(BinarySpec{
    .name = "xlog1py",
    .body = [](Expr x, Expr y) { return product(x, y, kernels::log1p(y)); },
    .gradient = [](const Grad& g) { return gradient(g, log1p, 1); },
    .saves_inputs = 3,
    .reference = [](double x, double y) { return x == 0 ? 0 : x * std::log1p(y); },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .tolerance_ulp = 3,
});

}  // namespace

Tensor xlogy(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor xlogy(Arg self, Scalar other) {
  const SiteScope scope(self.site);
  return call(op, self, number_beside(*self.tensor, other, self.site));
}
Tensor xlogy(Scalar self, Arg other) {
  const SiteScope scope(other.site);
  return call(op, {number_beside(*other.tensor, self, other.site), *other.tensor}, other.site);
}
Tensor special_xlog1py(Arg self, const Tensor& other) { return call(op_one_more, self, other); }
Tensor special_xlog1py(Arg self, Scalar other) {
  const SiteScope scope(self.site);
  return call(op_one_more, self, number_beside(*self.tensor, other, self.site));
}
Tensor special_xlog1py(Scalar self, Arg other) {
  const SiteScope scope(other.site);
  return call(op_one_more, {number_beside(*other.tensor, self, other.site), *other.tensor},
              other.site);
}

Tensor ElementwiseMethods::xlogy(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ElementwiseMethods::xlogy(Scalar other, Site site) const {
  return groove::xlogy({self(), site}, other);
}
Tensor& ElementwiseMethods::xlogy_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& ElementwiseMethods::xlogy_(Scalar other, Site site) const {
  const SiteScope scope(site);
  checked("xlogy_", self());
  return call_inplace(op, writable(self()), {number_beside(self(), other, site)}, site);
}

}  // namespace groove
