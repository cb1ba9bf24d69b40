// rand: uniform on [0, 1). A 16-bit float takes as many of the leading bits as it can hold, so that
// rounding never makes a 1.
#include <cmath>

#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

// How many different values a 16-bit float takes; 0 for the others, which hold all that is drawn.
double steps_of(ScalarType dtype) {
  return dtype == kHalf ? 0x1p11 : dtype == kBFloat16 ? 0x1p8 : 0;
}

kernels::Expr in_steps(const kernels::Body& b, kernels::Expr u) {
  const double steps = steps_of(b.attr().dtype(1));
  return steps == 0 ? u : floor(u * steps) * (1 / steps);
}

kernels::Exprs fours(kernels::Body& b) {
  kernels::Exprs four = four_uniform(b.numbers[0], b.numbers[1], b.flat_index(), b.compute);
  for (kernels::Expr& u : four) u = in_steps(b, u);
  return four;
}

const Op& op = define_random({
    .name = "rand",
    .inputs = 0,
    .attributes = factory_attributes(),
    .number_names = {"seed", "draw"},
    .type = random_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{
                  in_steps(b, uniform(b.numbers[0], b.numbers[1], b.flat_index(), b.compute))};
            },
        .raw_numbers = 3,
        .uses_flat_index = true}),
    .range =
        [](const Signature&, ArrayRef<ValueRange>, int) {
          return ValueRange{0, 1};
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          const Type type = s.op.type(s).outputs[0];
          std::int64_t at = 0;
          return std::vector<Reference>{make_reference(type, [&](const Shape&) {
            const double u = reference_uniform(s, 0, at++, type.dtype);
            const double steps = steps_of(type.dtype);
            return steps == 0 ? u : std::floor(u * steps) / steps;
          })};
        },
    .dtypes = floating_dtypes(),
    .samples = random_samples,
    .tolerance_ulp = 0,
});
[[maybe_unused]] const bool has_fours = draws_fours(op, fours);

}  // namespace

Tensor rand(IntArrayRef size, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return random_tensor(op, size, options, site);
}
Tensor rand_like(Arg self, TensorOptions options) {
  const CallFrame frame(self.site);
  const ScalarType dtype = options.dtype_opt().value_or(checked("rand_like", *self.tensor).dtype);
  return rand(type_of(*self.tensor).sizes, options.dtype(dtype), self.site);
}
Tensor& MathMethods::uniform_(double from, double to, Site site) const {
  const CallFrame frame(site);
  const Tensor values = groove::rand_like({self(), site});
  return copy_(values.mul(to - from, site).add(from, 1, site), false, site);
}

}  // namespace groove
