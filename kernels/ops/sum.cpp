// sum: integers and bool as i64, in the order of the numeric contract; 0 over nothing. sum_to
// undoes broadcasting.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "sum",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      const ScalarType dtype = is_floating(s.inputs[0].dtype) ? s.inputs[0].dtype : kLong;
      return {{{dtype, sizes}}, dtype};
    },
    .lowering =
        kernels::lower(kernels::ReductionLowering{.reductions = {kernels::Prim::kReduceSum}}),
    .gradient =
        [](const Grad& g) {
          return Tensors{unreduced(g.cotangent(), g).expand(g.input_types[0].sizes)};
        },
    .complex = complex_rules::reduction,
    .has_inplace = false,
    .reference = reduction_reference([](const std::vector<double>& row) {
      double total = 0;
      for (double x : row) total += x;
      return total;
    }),
    .dtypes = all_dtypes(),
    .samples = [](ScalarType dtype) { return reduction_samples(dtype); },
    .tolerance_ulp = 300,  // of sums that may cancel
});

Tensor reduced(Arg self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  const Attrs attrs = reduction_attrs("sum", *self.tensor, dims, keepdim);
  if (!dtype) return call(op, {*self.tensor}, self.site, attrs);
  // Integers come as i64, whose low bits are those of a narrower one.
  const Tensor x = self.tensor->to(*dtype, false, false, self.site);
  return call(op, {x}, self.site, attrs).to(*dtype, false, false, self.site);
}

}  // namespace

Tensor sum(Arg self) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, {});
}
Tensor sum(Arg self, ScalarType dtype) {
  const CallFrame frame(self.site);
  return reduced(self, {}, false, dtype);
}
Tensor sum(Arg self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  return reduced(self, dim.value_or({}), keepdim, dtype);
}
Tensor ReductionMethods::sum(Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, {});
}
Tensor ReductionMethods::sum(ScalarType dtype, Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, {}, false, dtype);
}
Tensor ReductionMethods::sum(OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype,
                             Site site) const {
  const CallFrame frame(site);
  return reduced({self(), site}, dim.value_or({}), keepdim, dtype);
}

Tensor sum_to(Arg self, IntArrayRef sizes) {
  const CallFrame frame(self.site);
  const Shape& own = checked("sum_to", *self.tensor).geometry.sizes;
  if (IntArrayRef(own) == sizes) return *self.tensor;
  GROOVE_CHECK(broadcast_of("sum_to", own, sizes) == own, "sum_to: {} does not broadcast to {}",
               to_string(sizes), to_string(own));
  const std::size_t lead = own.size() - sizes.size();
  Shape dims;
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (axis < lead || (sizes[axis - lead] == 1 && own[axis] != 1))
      dims.push_back(static_cast<std::int64_t>(axis));
  }
  if (dims.empty()) return *self.tensor;
  const Tensor total = reduced(self, dims, true, {});
  return lead == 0 ? total : total.view(sizes, self.site);
}

}  // namespace groove
