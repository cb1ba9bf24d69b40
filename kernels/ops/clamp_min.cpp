// clamp_min: the bound where self is below it, else self; NaN if either is. At the bound there is
// no slope, as in LibTorch.
#include <algorithm>
#include <cmath>

#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

const Op& op = define(ScalarSpec{
    .name = "clamp_min",
    // The primitive gives its second operand where they are equal, or either is NaN.
    .body = [](kernels::Expr x,
               kernels::Expr bound) { return select(is_nan(bound), bound, max(bound, x)); },
    .gradient =
        [](const Grad& g) {
          const Tensor kept = where(gt(g.input(0), g.numbers[0]), g.cotangent(), 0);
          return Tensors{reduced_to(kept, g.input_types[0])};
        },
    .saves_input = true,
    .reference = [](double x, double bound) { return x < bound || std::isnan(bound) ? bound : x; },
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.op.type(s).outputs[0].dtype;
          const ValueRange x = is_floating(dtype) ? in_dtype(inputs[0], dtype) : inputs[0];
          const ValueRange bound = range_of(s.numbers[0], dtype);
          return ValueRange{std::max(x.low, bound.low), std::max(x.high, bound.high)};
        },
});

}  // namespace

Tensor clamp_min(Arg self, Scalar bound) {
  const CallFrame frame(self.site);
  return call(op, self, bound_for("clamp_min", *self.tensor, bound, true));
}
Tensor MathMethods::clamp_min(Scalar bound, Site site) const {
  const CallFrame frame(site);
  return groove::clamp_min({self(), site}, bound);
}
Tensor& MathMethods::clamp_min_(Scalar bound, Site site) const {
  const CallFrame frame(site);
  const Scalar held = bound_for("clamp_min_", self(), bound, true);
  return call_inplace(op, writable(self()), {}, site, {}, held);
}

}  // namespace groove
