// mean: the sum divided once by the number of elements.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "mean",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                      "mean: not defined for {} tensors; give a floating dtype, as in mean(kFloat)",
                      name(dtype));
      return {{{dtype, sizes}}, dtype};
    },
    .lowering = kernels::lower(kernels::ReductionLowering{
        .reductions = {kernels::Prim::kReduceSum},
        .before = {},
        .after = [](kernels::Body&, const kernels::Exprs& reduced,
                    kernels::Expr count) { return kernels::Exprs{reduced[0] / count}; }}),
    .gradient =
        [](const Grad& g) {
          const Tensor share = div(g.cotangent(), static_cast<double>(reduced_count(g)));
          return Tensors{unreduced(share, g).expand(g.input_types[0].sizes)};
        },
    .complex = complex_rules::reduction,
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      double total = 0;
      for (double x : row) total += x;
      return total / static_cast<double>(row.size());
    }),
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
    .tolerance_ulp = 300,
});

Tensor reduced(Arg self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  const Attrs attrs = reduction_attrs("mean", *self.tensor, dims, keepdim);
  if (dtype) return call(op, {self.tensor->to(*dtype, false, false, self.site)}, self.site, attrs);
  return call(op, {*self.tensor}, self.site, attrs);
}

}  // namespace

Tensor mean(Arg self) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, {});
}
Tensor mean(Arg self, ScalarType dtype) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, dtype);
}
Tensor mean(Arg self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  return reduced(self, dim.value_or({}), keepdim, dtype);
}
Tensor ReductionMethods::mean(Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, {});
}
Tensor ReductionMethods::mean(ScalarType dtype, Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, dtype);
}
Tensor ReductionMethods::mean(OptionalIntArrayRef dim, bool keepdim,
                              std::optional<ScalarType> dtype, Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, dim.value_or({}), keepdim, dtype);
}

}  // namespace groove
