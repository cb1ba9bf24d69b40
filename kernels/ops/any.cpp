// any: is an element true? Anything but 0 is; nothing over nothing.
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define_truth("any", kernels::Prim::kReduceMax, [](const std::vector<double>& row) {
  for (double x : row)
    if (x != 0) return 1.0;
  return 0.0;
});

}  // namespace

Tensor any(Arg self) {
  const CallFrame frame(self.site);
  return reduce(op, self, {}, false);
}
Tensor any(Arg self, std::int64_t dim, bool keepdim) {
  const CallFrame frame(self.site);
  return reduce(op, self, dim, keepdim);
}
Tensor any(Arg self, OptionalIntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  return reduce(op, self, dim.value_or({}), keepdim);
}
Tensor ReductionMethods::any(OptionalIntArrayRef dim, bool keepdim, Site site) const {
  return groove::any({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::any(Site site) const {
  const CallFrame frame(site);
  return reduce(op, {self(), site}, {}, false);
}
Tensor ReductionMethods::any(std::int64_t dim, bool keepdim, Site site) const {
  const CallFrame frame(site);
  return reduce(op, {self(), site}, dim, keepdim);
}

}  // namespace groove
