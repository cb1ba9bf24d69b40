// dropout: zeros with probability p, the rest scaled up. The mask is made from (seed, draw) again
// in the gradient, so nothing is saved.
#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kP, kScale, kSeed, kDraw };

Tensor masked(const Op& op, const Tensor& x, ArrayRef<Scalar> numbers, Site site) {
  return call(op, {x.contiguous(site)}, site, {}, numbers);
}

const Op& op = define({
    .name = "dropout",
    .number_names = {"p", "scale", "seed", "draw"},
    .type = [](const Signature& s) -> TypeResult {
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK(dtype == kFloat || dtype == kDouble, "dropout: not defined for {} tensors",
                   name(dtype));
      return {{s.inputs[0]}, dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) {
          const kernels::Expr u =
              uniform(b.numbers[kSeed], b.numbers[kDraw], b.flat_index(), b.compute);
          return kernels::Exprs{select(lt(u, b.numbers[kP]), b.builder.constant(b.compute, 0),
                                       b.inputs[0] * b.numbers[kScale])};
        },
        .raw_numbers = 12,
        .uses_flat_index = true}),
    .gradient = [](const Grad& g) {
      return Tensors{masked(g.op, g.cotangent(), g.numbers, Site::current())};
    },
    .has_inplace = false,
    .is_random = true,
    .reference = [](const Signature& s, const std::vector<Reference>& inputs) {
      std::size_t at = 0;
      const ScalarType dtype = inputs[0].type.dtype;
      return std::vector<Reference>{make_reference(inputs[0].type, [&](const Shape&) {
        const double u = reference_uniform(s, kSeed, static_cast<std::int64_t>(at), dtype);
        const double x = inputs[0].values[at++];
        const double p = s.numbers[kP].to_double();
        const bool dropped = dtype == kFloat ? u < static_cast<double>(static_cast<float>(p))
                                             : u < p;
        return dropped ? 0 : x * s.numbers[kScale].to_double();
      })};
    },
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) {
      std::vector<Sample> samples = unary_samples(dtype);
      for (Sample& sample : samples)
        sample.numbers = {Scalar(0.25), Scalar(1 / 0.75), Scalar(12345), Scalar(7)};
      return samples;
    },
    .tolerance_ulp = 2,
});

}  // namespace

Tensor dropout(Arg self, double p, bool train) {
  GROOVE_CHECK(p >= 0 && p <= 1, "dropout: probability {} is not in [0, 1]", p);
  const ScalarType dtype = checked("dropout", *self.tensor).dtype;
  if (!train || p == 0) return *self.tensor;
  GROOVE_CHECK(dtype == kFloat || dtype == kDouble, "dropout: not defined for {} tensors",
               name(dtype));
  const DrawNumbers draw = next_draw();
  const Scalar scale = p == 1 ? 0.0 : 1 / (1 - p);
  return masked(op, *self.tensor, {Scalar(p), scale, draw.seed, draw.draw}, self.site);
}

}  // namespace groove
