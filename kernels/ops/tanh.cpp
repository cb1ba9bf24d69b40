// tanh: the hyperbolic tangent.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "tanh",
    .body = [](kernels::Expr x) { return kernels::tanh(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), 1 - square(g.output()))}; },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::hyperbolic_tangent>,
    .reference = [](double x) { return std::tanh(x); },
    .domain = {-4, 4},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor tanh(Arg self) { return call(op, self); }
Tensor MathMethods::tanh(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::tanh_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
