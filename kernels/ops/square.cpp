// square: self * self; of bool as i64.
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "square",
    .body = [](kernels::Expr x) { return x * x; },
    .gradient = [](const Grad& g) { return Tensors{mul(mul(g.cotangent(), g.input(0)), 2)}; },
    .saves_input = true,
    .complex = [](const Call& c) { return complex_rules::product(c.inputs[0], c.inputs[0]); },
    .reference = [](double x) { return x * x; },
    .type = [](const Signature& s) -> TypeResult {
      TypeResult result = same_as_input(s);
      if (result.outputs[0].dtype == kBool) return {{{kLong, s.inputs[0].sizes}}, kLong};
      return result;
    },
    .dtypes = all_dtypes(),
    .tolerance_ulp = 1,
});

}  // namespace

Tensor square(Arg self) { return call(op, self); }
Tensor MathMethods::square(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::square_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
