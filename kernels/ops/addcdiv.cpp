// addcdiv: self + value * tensor1 / tensor2; floating dtypes only.
#include "kernels/ops/addc.h"
#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "addcdiv",
    .inputs = 3,
    .number_names = {"value"},
    .type = [](const Signature& s) -> TypeResult {
      TypeResult result = addc_type(s);
      GROOVE_CHECK_AS(NotImplementedError, is_floating(result.compute),
                      "addcdiv: not defined for {} tensors; convert one to a floating dtype",
                      name(result.compute));
      return result;
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{b.inputs[0] + b.numbers[0] * b.inputs[1] / b.inputs[2]};
            }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (!g.needs[1] && !g.needs[2]) return result;
          const Tensor over = div(mul(g.cotangent(), g.numbers[0]), g.input(2));
          if (g.needs[1]) result[1] = reduced_to(over, g.input_types[1]);
          if (g.needs[2])
            result[2] = reduced_to(neg(mul(over, div(g.input(1), g.input(2)))), g.input_types[2]);
          return result;
        },
    .saves_inputs = 6,
    .complex =
        [](const Call& c) {
          const Tensor x = complex_rules::operand(c, 1), y = complex_rules::operand(c, 2);
          return complex_rules::operand(c, 0) + x * c.numbers[0] / y;
        },
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] + s.numbers[0].to_double() * x[1] / x[2];
    }),
    .domain = {0.5, 0.7},  // where the sum does not cancel
    .dtypes = floating_dtypes(),
    .samples = addc_samples,
});

}  // namespace

Tensor addcdiv(Arg self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return call(op, {*self.tensor, tensor1, tensor2}, self.site, {}, value);
}
Tensor MathMethods::addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value,
                            Site site) const {
  return groove::addcdiv({self(), site}, tensor1, tensor2, value);
}
Tensor& MathMethods::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value,
                              Site site) const {
  return call_inplace(op, writable(self()), {tensor1, tensor2}, site, {}, value);
}

}  // namespace groove
