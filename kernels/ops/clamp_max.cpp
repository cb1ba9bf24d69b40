// clamp_max: the bound where self is above it, else self; NaN if either is. At the bound there is
// no slope, as in LibTorch.
#include <algorithm>
#include <cmath>

#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

const Op& op = define(ScalarSpec{
    .name = "clamp_max",
    // The primitive gives its second operand where they are equal, or either is NaN.
    .body = [](kernels::Expr x,
               kernels::Expr bound) { return select(is_nan(bound), bound, min(bound, x)); },
    .gradient =
        [](const Grad& g) {
          const Tensor kept = where(lt(g.input(0), g.numbers[0]), g.cotangent(), 0);
          return Tensors{reduced_to(kept, g.input_types[0])};
        },
    .saves_input = true,
    .reference = [](double x, double bound) { return x > bound || std::isnan(bound) ? bound : x; },
    .dtypes = all_dtypes(),
    .tolerance_ulp = 0,
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.op.type(s).outputs[0].dtype;
          const ValueRange x = is_floating(dtype) ? in_dtype(inputs[0], dtype) : inputs[0];
          const ValueRange bound = range_of(s.numbers[0], dtype);
          return ValueRange{std::min(x.low, bound.low), std::min(x.high, bound.high)};
        },
});

}  // namespace

Tensor clamp_max(Arg self, Scalar bound) {
  const CallFrame frame(self.site);
  return call(op, self, bound_for("clamp_max", *self.tensor, bound, false));
}
Tensor MathMethods::clamp_max(Scalar bound, Site site) const {
  const CallFrame frame(site);
  return groove::clamp_max({self(), site}, bound);
}
Tensor& MathMethods::clamp_max_(Scalar bound, Site site) const {
  const CallFrame frame(site);
  const Scalar held = bound_for("clamp_max_", self(), bound, false);
  return call_inplace(op, writable(self()), {}, site, {}, held);
}

}  // namespace groove
