// sigmoid: 1 / (1 + exp(-self)).
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "sigmoid",
    .body = [](kernels::Expr x) { return kernels::sigmoid(x); },
    .gradient =
        [](const Grad& g) {
          const Tensor& y = g.output();
          return Tensors{mul(g.cotangent(), mul(y, 1 - y))};
        },
    .saves_output = true,
    .complex = complex_rules::of_each<complex_rules::logistic>,
    .reference = [](double x) { return 1 / (1 + std::exp(-x)); },
    .domain = {-6, 6},
    .dtypes = all_dtypes(),
    .range = [](const Signature&, ArrayRef<ValueRange>, int) { return ValueRange{0, 1}; },
});

}  // namespace

Tensor sigmoid(Arg self) { return call(op, self); }
Tensor MathMethods::sigmoid(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::sigmoid_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
