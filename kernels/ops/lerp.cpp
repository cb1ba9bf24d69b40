// lerp: the way from self to end, as a share of it; exact at both ends.
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "lerp",
    .inputs = 2,
    .number_names = {"weight"},
    .type = [](const Signature& s) -> TypeResult {
      TypeResult result = promoted({s.op, s.inputs, s.attrs, {}});
      GROOVE_CHECK(is_floating(result.compute),
                   "lerp: not defined for {} tensors; convert to a floating dtype",
                   name(result.compute));
      return result;
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr start = b.inputs[0], end = b.inputs[1], weight = b.numbers[0];
              const kernels::Expr way = end - start;
              return kernels::Exprs{select(lt(kernels::abs(weight), 0.5), start + weight * way,
                                           end - way * (1.0 - weight))};
            }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor share = mul(g.cotangent(), g.numbers[0]);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent() - share, g.input_types[0]);
          if (g.needs[1]) result[1] = reduced_to(share, g.input_types[1]);
          return result;
        },
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

}  // namespace groove
