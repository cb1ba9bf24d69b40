// expm1: exp(self) - 1 without cancellation.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "expm1",
    .body = [](kernels::Expr x) { return kernels::expm1(x); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), g.output() + 1)}; },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::exponential_less_one>,
    .reference = [](double x) { return std::expm1(x); },
});

}  // namespace

Tensor expm1(Arg self) { return call(op, self); }
Tensor MathMethods::expm1(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::expm1_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
