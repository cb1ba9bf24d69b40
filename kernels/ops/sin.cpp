// sin: the sine of radians.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "sin",
    .body = [](kernels::Expr x) { return kernels::sin(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), cos(g.input(0)))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::sine>,
    .reference = [](double x) { return std::sin(x); },
    .domain = {-9, 9},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor sin(Arg self) { return call(op, self); }
Tensor MathMethods::sin(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::sin_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
