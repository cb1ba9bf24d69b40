// count_nonzero: how many elements differ from 0 (NaN does), as i64.
#include <algorithm>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "count_nonzero",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      return {{{kLong, sizes}}, kBool};
    },
    .lowering = kernels::lower(kernels::ReductionLowering{
        .reductions = {kernels::Prim::kReduceSum},
        .before = [](kernels::Body& b) { return kernels::Exprs{convert(b.inputs[0], kLong)}; }}),
    .complex = complex_rules::on_truths,
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      return static_cast<double>(
          std::count_if(row.begin(), row.end(), [](double x) { return x != 0; }));
    }),
    .dtypes = all_dtypes(),
    .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor count_nonzero(Arg self, OptionalIntArrayRef dim) {
  const CallFrame frame(self.site);
  return call(op, {*self.tensor}, self.site,
              reduction_attrs("count_nonzero", *self.tensor, dim.value_or({}), false));
}
Tensor ReductionMethods::count_nonzero(OptionalIntArrayRef dim, Site site) const {
  return groove::count_nonzero({self(), site}, dim);
}

}  // namespace groove
