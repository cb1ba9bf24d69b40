// hypot: the length of (self, other), from the ratio of the smaller one to the greater one, whose
// square does not overflow.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

kernels::Expr body(kernels::Expr x, kernels::Expr y) {
  const kernels::Expr a = kernels::abs(convert(x, kDouble)), b = kernels::abs(convert(y, kDouble));
  const kernels::Expr greater = max_nan(a, b), ratio = min_nan(a, b) / greater;
  const kernels::Expr length = greater * sqrt(ratio * ratio + 1.0);
  const kernels::Expr is_infinite = eq(a, INFINITY) | eq(b, INFINITY);
  const kernels::Expr infinity = a.builder().constant(kDouble, INFINITY);
  const kernels::Expr result = select(eq(greater, 0.0), greater, length);
  return convert(select(is_infinite, infinity, result), x.dtype());
}

const Op& op = define(BinarySpec{
    .name = "hypot",
    .body = body,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor length = hypot(g.input(0), g.input(1));
          for (std::size_t i = 0; i < 2; ++i) {
            if (g.needs[i])
              result[i] = reduced_to(mul(g.cotangent(), div(g.input(i), length)), g.input_types[i]);
          }
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a, double b) { return std::hypot(a, b); },
    .domain = {0.5, 4},
    .type = [](const Signature& s) -> TypeResult {
      const TypeResult result = promoted(s);
      const ScalarType dtype = result.outputs[0].dtype;
      GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                      "hypot: not defined for {} tensors; convert to a floating dtype",
                      name(dtype));
      return result;
    },
    .dtypes = floating_dtypes(),
    .tolerance_ulp = 3,
});

}  // namespace

Tensor hypot(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor ElementwiseMethods::hypot(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor& ElementwiseMethods::hypot_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}

}  // namespace groove
