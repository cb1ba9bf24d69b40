// exp: e to the power of self.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "exp",
    .body = [](kernels::Expr x) { return kernels::exp(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), g.output())}; },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::exponential>,
    .reference = [](double x) { return std::exp(x); },
    .domain = {-8, 8},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor exp(Arg self) { return call(op, self); }
Tensor MathMethods::exp(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::exp_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
