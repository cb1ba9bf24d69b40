// std: the square root of var; its slope where it is 0 is taken as 0.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "groove/ops/statistics.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/deviation.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "std",
    .kind = OpKind::kComposite,
    .attributes = deviation_attributes(),
    .type = deviation_type,
    .lowering = kernels::lower(kernels::CompositeLowering{[](const Signature& s,
                                                             ArrayRef<Tensor> inputs) {
      const AttrReader attr = s.attr();
      return Tensors{sqrt(variance(inputs[0], attr.integers(0), attr.integer(2), attr.boolean(1)))};
    }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& y = g.output();
          const Tensor grad = masked_fill(g.cotangent() / (y * 2), eq(y, 0), 0);
          return Tensors{variance_gradient(g, grad)};
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[0]);
          return hypot(call(*c.op, {z.re}, c.site, *c.attrs),
                       call(*c.op, {z.im}, c.site, *c.attrs));
        },
    .has_inplace = false,
    .reference = deviation_reference([](double variance) { return std::sqrt(variance); }),
    .dtypes = floating_dtypes(),
    .samples = deviation_samples,
    .tolerance_ulp = 64,
});

}  // namespace

Tensor deviation(Arg self, IntArrayRef dims, std::int64_t correction, bool keepdim) {
  return call(op, {*self.tensor}, self.site,
              reduction_attrs("std", *self.tensor, dims, keepdim).add(correction));
}

Tensor std(Arg self) {
  const CallFrame frame(self.site);
  return deviation(self, {}, 1, false);
}
Tensor std(Arg self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const CallFrame frame(self.site);
  return deviation(self, dim.value_or({}), unbiased, keepdim);
}
Tensor ReductionMethods::std(Site site) const {
  const CallFrame frame(site);
  return deviation({self(), site}, {}, 1, false);
}
Tensor ReductionMethods::std(OptionalIntArrayRef dim, bool unbiased, bool keepdim,
                             Site site) const {
  const CallFrame frame(site);
  return deviation({self(), site}, dim.value_or({}), unbiased, keepdim);
}

Tensor std(Arg self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  const CallFrame frame(self.site);
  return std::get<0>(std_mean(self, dim, correction, keepdim));
}
Tensor ReductionMethods::std(OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
                             bool keepdim, Site site) const {
  return groove::std({self(), site}, dim, correction, keepdim);
}

}  // namespace groove
