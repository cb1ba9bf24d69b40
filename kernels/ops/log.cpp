// log: the natural logarithm.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "log",
    .body = [](kernels::Expr x) { return kernels::log(x); },
    .gradient = [](const Grad& g) { return Tensors{div(g.cotangent(), g.input(0))}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::logarithm>,
    .reference = [](double x) { return std::log(x); },
    .domain = {0.1, 8},
    .dtypes = all_dtypes(),
});

}  // namespace

Tensor log(Arg self) { return call(op, self); }
Tensor MathMethods::log(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::log_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
