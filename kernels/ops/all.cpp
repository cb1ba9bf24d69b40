// all: is every element true? Anything but 0 is; so it is over nothing.
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "all",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      return {{{kBool, sizes}}, kBool};
    },
    .lowering = kernels::lower(kernels::ReductionLowering{
        .reductions = {kernels::Prim::kReduceMin},
        .before = [](kernels::Body& b) { return kernels::Exprs{convert(b.inputs[0], kInt)}; },
        .after = [](kernels::Body&, const kernels::Exprs& reduced,
                    kernels::Expr) { return kernels::Exprs{gt(reduced[0], 0.0)}; }}),
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      for (double x : row)
        if (x == 0) return 0.0;
      return 1.0;
    }),
    .dtypes = all_dtypes(),
    .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
    .tolerance_ulp = 0,
});

Tensor reduced(Arg self, IntArrayRef dims, bool keepdim) {
  return call(op, {*self.tensor}, self.site, reduction_attrs("all", *self.tensor, dims, keepdim));
}

}  // namespace

Tensor all(Arg self) { return reduced(self, {}, false); }
Tensor all(Arg self, std::int64_t dim, bool keepdim) { return reduced(self, dim, keepdim); }
Tensor ReductionMethods::all(Site site) const { return reduced({self(), site}, {}, false); }
Tensor ReductionMethods::all(std::int64_t dim, bool keepdim, Site site) const {
  return reduced({self(), site}, dim, keepdim);
}

}  // namespace groove
