// rsqrt: 1 / sqrt(self) with one rounding error.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "rsqrt",
    .body = [](kernels::Expr x) { return kernels::rsqrt(x); },
    .gradient =
        [](const Grad& g) {
          const Tensor& y = g.output();
          return Tensors{mul(mul(g.cotangent(), -0.5), mul(mul(y, y), y))};
        },
    .saves_output = true,
    .complex = [](const Call& c) { return 1 / sqrt(c.inputs[0]); },
    .reference = [](double x) { return 1 / std::sqrt(x); },
    .domain = {0.1, 8},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor rsqrt(Arg self) { return call(op, self); }
Tensor MathMethods::rsqrt(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::rsqrt_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
