// log2: the logarithm to base 2; NaN below 0, -inf at 0.
#include <cmath>
#include <numbers>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "log2",
    .body = [](kernels::Expr x) { return kernels::log2(x); },
    .gradient =
        [](const Grad& g) {
          // log 2
          return Tensors{div(g.cotangent(), mul(g.input(0), 0x1.62e42fefa39efp-1))};
        },
    .saves_input = true,
    .complex = [](const Call& c) { return log(c.inputs[0]) / std::numbers::ln2; },
    .reference = [](double x) { return std::log2(x); },
    .domain = {0.1, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor log2(Arg self) { return call(op, self); }
Tensor MathMethods::log2(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::log2_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
