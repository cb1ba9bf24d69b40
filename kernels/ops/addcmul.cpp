// addcmul: self + value * tensor1 * tensor2.
#include "kernels/ops/addc.h"
#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "addcmul",
    .inputs = 3,
    .number_names = {"value"},
    .type = addc_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{b.inputs[0] + b.numbers[0] * b.inputs[1] * b.inputs[2]};
            }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (!g.needs[1] && !g.needs[2]) return result;
          const Tensor scaled = mul(g.cotangent(), g.numbers[0]);
          if (g.needs[1]) result[1] = reduced_to(mul(scaled, g.input(2)), g.input_types[1]);
          if (g.needs[2]) result[2] = reduced_to(mul(scaled, g.input(1)), g.input_types[2]);
          return result;
        },
    .saves_inputs = 6,
    .complex =
        [](const Call& c) {
          const Tensor x = complex_rules::operand(c, 1), y = complex_rules::operand(c, 2);
          return complex_rules::operand(c, 0) + x * y * c.numbers[0];
        },
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] + s.numbers[0].to_double() * x[1] * x[2];
    }),
    .domain = {1, 3},
    .dtypes = numeric_dtypes(),
    .samples = addc_samples,
});

}  // namespace

TypeResult addc_type(const Signature& s) {
  TypeResult result = promoted({s.op, s.inputs, s.attrs, {}});
  GROOVE_CHECK(result.compute != kBool, "{}: not defined for Bool tensors", s.op.name);
  GROOVE_CHECK(is_floating(result.compute) || !s.numbers[0].isFloatingPoint(),
               "{}: value {} is not an integer but the result is {}; convert a tensor to a "
               "floating dtype",
               s.op.name, s.numbers[0].to_double(), name(result.compute));
  return result;
}

std::vector<Sample> addc_samples(ScalarType dtype) {
  const Shape triples[][3] = {
      {{}, {}, {}},          {{7}, {1}, {7}},          {{5}, {}, {5}},           {{0}, {1}, {0}},
      {{3, 5}, {3, 5}, {5}}, {{3, 1}, {1, 5}, {3, 5}}, {{2, 3, 4}, {4}, {3, 1}}, {{1}, {19}, {19}}};
  std::vector<Sample> samples;
  for (const auto& [a, b, c] : triples)
    samples.push_back({{{dtype, a}, {dtype, b}, {dtype, c}}, {}, {Scalar(2)}});
  return samples;
}

Tensor addcmul(Arg self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return call(op, {*self.tensor, tensor1, tensor2}, self.site, {}, value);
}
Tensor MathMethods::addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value,
                            Site site) const {
  return groove::addcmul({self(), site}, tensor1, tensor2, value);
}
Tensor& MathMethods::addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value,
                              Site site) const {
  return call_inplace(op, writable(self()), {tensor1, tensor2}, site, {}, value);
}

}  // namespace groove
