// softplus: log(1 + exp(beta * self)) / beta, and self itself where that is no different.
#include <algorithm>
#include <cmath>

#include "kernels/functions/parts.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kBeta, kThreshold };

const Op& op = define({
    .name = "softplus",
    .number_names = {"beta", "threshold"},
    .type = floating_only,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr x = b.inputs[0], scaled = x * b.numbers[kBeta];
              const kernels::Expr curved = kernels::functions::softplus(scaled) / b.numbers[kBeta];
              return kernels::Exprs{select(gt(scaled, b.numbers[kThreshold]), x, curved)};
            }}),
    .gradient =
        [](const Grad& g) {
          const Tensor scaled = mul(g.input(0), g.numbers[kBeta]);
          return Tensors{where(gt(scaled, g.numbers[kThreshold]), g.cotangent(),
                               mul(g.cotangent(), sigmoid(scaled)))};
        },
    .saves_inputs = 1,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      const double beta = s.numbers[kBeta].to_double();
      if (x[0] * beta > std::min(s.numbers[kThreshold].to_double(), 64.0)) return x[0];
      return std::log1p(std::exp(x[0] * beta)) / beta;
    }),
    .domain = {-3, 3},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const double threshold : {20.0, 1.0}) {
            for (Sample& sample : unary_samples(dtype)) {
              sample.numbers = {Scalar(1.5), Scalar(threshold)};
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
});

}  // namespace

Tensor softplus(Arg self, Scalar beta, Scalar threshold) {
  return call(op, {*self.tensor}, self.site, {}, {beta, threshold});
}

}  // namespace groove
