// log10: the logarithm to base 10; NaN below 0, -inf at 0.
#include <cmath>
#include <numbers>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "log10",
    .body = [](kernels::Expr x) { return kernels::log10(x); },
    .gradient =
        [](const Grad& g) {
          // log 10
          return Tensors{div(g.cotangent(), mul(g.input(0), 0x1.26bb1bbb55516p+1))};
        },
    .saves_input = true,
    .complex = [](const Call& c) { return log(c.inputs[0]) / std::numbers::ln10; },
    .reference = [](double x) { return std::log10(x); },
    .domain = {0.1, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor log10(Arg self) { return call(op, self); }
Tensor MathMethods::log10(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::log10_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
