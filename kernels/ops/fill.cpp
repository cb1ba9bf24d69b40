// fill: every element becomes a number; used in place.
#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "fill",
    .number_names = {"value"},
    .type = same_as_input,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) { return kernels::Exprs{b.numbers[0]}; }}),
    .gradient = [](const Grad& g) { return Tensors{zeros_like(g.cotangent())}; },
    .complex = [](const Call& c) { return full_like(c.inputs[0], c.numbers[0]); },
    .reference = elementwise_reference(
        [](const std::vector<double>&, const Signature& s) { return s.numbers[0].to_double(); }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return scalar_samples(dtype, {1, 0});
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor& MathMethods::fill_(Scalar value, Site site) const {
  const CallFrame frame(site);
  check_held("fill_", value, checked("fill_", self()).dtype);
  return call_inplace(op, writable(self()), {}, site, {}, value);
}
Tensor& MathMethods::fill_(const Tensor& value, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(checked("fill_", value).geometry.sizes.empty(),
               "fill_: the value must be a 0-d tensor, not one of shape {}; use copy_",
               to_string(value.impl()->geometry.sizes));
  return copy_(value, false, site);
}
Tensor& MathMethods::zero_(Site site) const {
  const CallFrame frame(site);
  return fill_(0, site);
}

}  // namespace groove
