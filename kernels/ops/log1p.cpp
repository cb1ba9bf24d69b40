// log1p: log(1 + self) without cancellation.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "log1p",
    .body = [](kernels::Expr x) { return kernels::log1p(x); },
    .gradient = [](const Grad& g) { return Tensors{div(g.cotangent(), g.input(0) + 1)}; },
    .saves_input = true,
    .complex = complex_rules::of_each<complex_rules::logarithm_of_one_more>,
    .reference = [](double x) { return std::log1p(x); },
    .domain = {-0.9, 4},
});

}  // namespace

Tensor log1p(Arg self) { return call(op, self); }
Tensor MathMethods::log1p(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::log1p_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
