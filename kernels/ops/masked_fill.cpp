// masked_fill: self with a number where a mask is set; the dtype is that of self.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"
#include "src/core/held_numbers.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "masked_fill",
    .inputs = 2,
    .number_names = {"value"},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      GROOVE_CHECK(s.inputs[1].dtype == kBool,
                   "masked_fill: the mask is {}, not Bool; compare it with something or use "
                   "to(kBool)",
                   name(s.inputs[1].dtype));
      const ScalarType dtype = s.inputs[0].dtype;
      return {{{dtype, broadcast_shapes("masked_fill", s.inputs)}}, dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{select(b.inputs[1], b.numbers[0], b.inputs[0])};
            },
        .raw_inputs = 2}),
    .gradient =
        [](const Grad& g) {
          return Tensors{reduced_to(masked_fill(g.cotangent(), g.input(1), 0), g.input_types[0]),
                         Tensor()};
        },
    .saves_inputs = 2,
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[0]);
          return complex_rules::joined(masked_fill(z.re, c.inputs[1], c.numbers[0]),
                                       masked_fill(z.im, c.inputs[1], 0));
        },
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[1] != 0 ? s.numbers[0].to_double() : x[0];
    }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> result = binary_samples(dtype);
          for (Sample& sample : result) {
            sample.inputs[1].dtype = kBool;
            sample.numbers = {Scalar(3)};
          }
          return result;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor masked_fill(Arg self, const Tensor& mask, Scalar value) {
  const CallFrame frame(self.site);
  check_held("masked_fill", value, checked("masked_fill", *self.tensor).dtype);
  return call(op, {*self.tensor, mask}, self.site, {}, value);
}
Tensor MathMethods::masked_fill(const Tensor& mask, Scalar value, Site site) const {
  return groove::masked_fill({self(), site}, mask, value);
}
Tensor& MathMethods::masked_fill_(const Tensor& mask, Scalar value, Site site) const {
  const CallFrame frame(site);
  check_held("masked_fill_", value, checked("masked_fill_", self()).dtype);
  return call_inplace(op, writable(self()), {mask}, site, {}, value);
}
// As where, with the dtype of self.
Tensor masked_fill(Arg self, const Tensor& mask, const Tensor& value) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("masked_fill", *self.tensor).dtype;
  GROOVE_CHECK(checked("masked_fill", value).geometry.sizes.empty(),
               "masked_fill: the value has shape {}; it must be a number or a 0-d tensor",
               to_string(value.sizes()));
  GROOVE_CHECK(can_cast(value.impl()->dtype, dtype), "masked_fill: a {} value for a {} tensor",
               name(value.impl()->dtype), name(dtype));
  return where(mask, value.to(dtype), *self.tensor);
}
Tensor MathMethods::masked_fill(const Tensor& mask, const Tensor& value, Site site) const {
  return groove::masked_fill({self(), site}, mask, value);
}
Tensor& MathMethods::masked_fill_(const Tensor& mask, const Tensor& value, Site site) const {
  const SiteScope scope(site);
  return write_back("masked_fill_", self(), groove::masked_fill({self(), site}, mask, value), site);
}

}  // namespace groove
