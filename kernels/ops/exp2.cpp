// exp2: 2 to the power of self.
#include <cmath>
#include <numbers>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "exp2",
    .body = [](kernels::Expr x) { return kernels::exp2(x); },
    .gradient =
        [](const Grad& g) {
          // log 2
          return Tensors{mul(g.cotangent(), mul(g.output(0), 0x1.62e42fefa39efp-1))};
        },
    .saves_output = true,
    .complex = [](const Call& c) { return exp(c.inputs[0] * std::numbers::ln2); },
    .reference = [](double x) { return std::exp2(x); },
    .domain = {-4, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor exp2(Arg self) { return call(op, self); }
Tensor MathMethods::exp2(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::exp2_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
