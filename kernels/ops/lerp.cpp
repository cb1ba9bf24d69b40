// lerp: the way from self to end, as a share of it; exact at both ends.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

TypeResult lerp_type(const Signature& s) {
  TypeResult result = promoted({s.op, s.inputs, s.attrs, {}});
  GROOVE_CHECK_AS(NotImplementedError, is_floating(result.compute),
                  "lerp: not defined for {} tensors; convert to a floating dtype",
                  name(result.compute));
  return result;
}

kernels::Expr between(kernels::Expr start, kernels::Expr end, kernels::Expr weight) {
  const kernels::Expr way = end - start;
  return select(lt(kernels::abs(weight), 0.5), start + weight * way, end - way * (1.0 - weight));
}

const Op& op = define({
    .name = "lerp",
    .inputs = 2,
    .number_names = {"weight"},
    .type = lerp_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{between(b.inputs[0], b.inputs[1], b.numbers[0])};
            }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor share = mul(g.cotangent(), g.numbers[0]);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent() - share, g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(share, g.input_types[1]);
          return result;
        },
    .complex = complex_rules::on_all_pairs,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] + s.numbers[0].to_double() * (x[1] - x[0]);
    }),
    .domain = {1, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const double weight : {0.25, 0.75}) {
            for (Sample& sample : binary_samples(dtype)) {
              sample.numbers = {Scalar(weight)};
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
});

const Op& op_by_tensor = define({
    .name = "lerp_tensor",
    .inputs = 3,
    .type = lerp_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{between(b.inputs[0], b.inputs[1], b.inputs[2])};
            }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          const Tensor& grad = g.cotangent();
          if (g.needs[0] || g.needs[1]) {
            const Tensor share = mul(grad, g.input(2));
            if (g.needs[0]) result[0] = reduced_to(grad - share, g.input_types[0]);
            if (g.needs[1]) result[1] = reduced_to(share, g.input_types[1]);
          }
          if (g.needs[2])
            result[2] = reduced_to(mul(grad, g.input(1) - g.input(0)), g.input_types[2]);
          return result;
        },
    .saves_inputs = 0b111,
    .reference = elementwise_reference(
        [](const std::vector<double>& x, const Signature&) { return x[0] + x[2] * (x[1] - x[0]); }),
    .domain = {1, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {3, 4}}, {dtype, {3, 4}}, {dtype, {3, 4}}}, {}, {}},
                                     {{{dtype, {2, 3}}, {dtype, {3}}, {dtype, {}}}, {}, {}},
                                     {{{dtype, {5}}, {dtype, {2, 1}}, {dtype, {2, 5}}}, {}, {}}};
        },
});

}  // namespace

Tensor lerp(Arg self, const Tensor& end, Scalar weight) {
  return call(op, {*self.tensor, end}, self.site, {}, weight);
}
Tensor MathMethods::lerp(const Tensor& end, Scalar weight, Site site) const {
  return groove::lerp({self(), site}, end, weight);
}
Tensor& MathMethods::lerp_(const Tensor& end, Scalar weight, Site site) const {
  return call_inplace(op, writable(self()), {end}, site, {}, weight);
}

Tensor lerp(Arg self, const Tensor& end, const Tensor& weight) {
  return call(op_by_tensor, {*self.tensor, end, weight}, self.site);
}
Tensor MathMethods::lerp(const Tensor& end, const Tensor& weight, Site site) const {
  return groove::lerp({self(), site}, end, weight);
}
Tensor& MathMethods::lerp_(const Tensor& end, const Tensor& weight, Site site) const {
  return call_inplace(op_by_tensor, writable(self()), {end, weight}, site);
}

}  // namespace groove
