// dropout: zeros with probability p, the rest scaled up. The mask is made from (seed, draw) again
// in the gradient, so nothing is saved.
#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kP, kSeed, kDraw, kScale };

bool is_kept(const Signature& s, std::size_t p, std::int64_t at, ScalarType dtype) {
  const double bound = s.numbers[p].to_double();
  return reference_uniform(s, p + 1, at, dtype) >=
         (dtype != kDouble ? static_cast<double>(static_cast<float>(bound)) : bound);
}

// true where an element is kept: an op without tensor operands, whose flat index is its own.
const Op& op_mask = define({
    .name = "dropout_mask",
    .inputs = 0,
    .attributes = factory_attributes(),
    .number_names = {"p", "seed", "draw"},
    .type = [](const Signature& s) -> TypeResult {
      return {{{kBool, s.attr().integers(0)}}, s.attr().dtype(1)};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{
                  ge(uniform(b.numbers[1], b.numbers[2], b.flat_index(), b.compute), b.numbers[0])};
            },
        .raw_numbers = 6,
        .uses_flat_index = true}),
    .has_inplace = false,
    .is_random = true,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          std::int64_t at = 0;
          return std::vector<Reference>{make_reference(
              s.op.type(s).outputs[0],
              [&](const Shape&) -> double { return is_kept(s, kP, at++, s.attr().dtype(1)); })};
        },
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = random_samples(dtype);
          for (Sample& sample : samples)
            sample.numbers.insert(sample.numbers.begin(), Scalar(0.25));
          return samples;
        },
    .tolerance_ulp = 0,
});

[[maybe_unused]] const bool has_fours =
    (kernels::define_fours(op_mask,
                           [](kernels::Body& b) {
                             kernels::Exprs four = four_uniform(b.numbers[1], b.numbers[2],
                                                                b.flat_index(), b.compute);
                             for (kernels::Expr& u : four) u = ge(u, b.numbers[0]);
                             return four;
                           }),
     true);

const Op& op = define({
    .name = "dropout",
    .kind = OpKind::kComposite,
    .number_names = {"p", "seed", "draw", "scale"},
    .type = [](const Signature& s) -> TypeResult {
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                      "dropout: not defined for {} tensors", name(dtype));
      return {{s.inputs[0]}, dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Type& type = s.inputs[0];
          if (element_count(type.sizes) == 0) return Tensors{clone(inputs[0])};
          const Tensor kept = call(op_mask, {}, Site::current(),
                                   Attrs().add(IntArrayRef(type.sizes)).add(type.dtype),
                                   s.numbers.slice(0, kScale));
          return Tensors{where(kept, mul(inputs[0], s.numbers[kScale]), 0)};
        }}),
    .gradient =
        [](const Grad& g) {
          return Tensors{call(g.op, {g.cotangent()}, Site::current(), {}, g.numbers)};
        },
    .has_inplace = false,
    .is_random = true,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::size_t at = 0;
          const Type& type = inputs[0].type;
          return std::vector<Reference>{make_reference(type, [&](const Shape&) {
            const double x = inputs[0].values[at];
            const bool kept = is_kept(s, kP, static_cast<std::int64_t>(at++), type.dtype);
            return kept ? x * s.numbers[kScale].to_double() : 0;
          })};
        },
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = unary_samples(dtype);
          for (Sample& sample : samples)
            sample.numbers = {Scalar(0.25), Scalar(12345), Scalar(7), Scalar(1 / 0.75)};
          return samples;
        },
    .tolerance_ulp = 2,
});

}  // namespace

Tensor dropout(Arg self, double p, bool train) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(p >= 0 && p <= 1, "dropout: probability {} is not in [0, 1]", p);
  const ScalarType dtype = checked("dropout", *self.tensor).dtype;
  if (!train || p == 0) return *self.tensor;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype), "dropout: not defined for {} tensors",
                  name(dtype));
  const DrawNumbers draw = next_draw();
  const Scalar scale = p == 1 ? 0.0 : 1 / (1 - p);
  return call(op, {*self.tensor}, self.site, {}, {Scalar(p), draw.seed, draw.draw, scale});
}

}  // namespace groove
