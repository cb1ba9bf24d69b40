// all: is every element true? Anything but 0 is; so it is over nothing.
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

const Op& op = define_truth("all", kernels::Prim::kReduceMin, [](const std::vector<double>& row) {
  for (double x : row)
    if (x == 0) return 0.0;
  return 1.0;
});

}  // namespace

Tensor all(Arg self) {
  const CallFrame frame(self.site);
  return reduce(op, self, {}, false);
}
Tensor all(Arg self, std::int64_t dim, bool keepdim) {
  const CallFrame frame(self.site);
  return reduce(op, self, dim, keepdim);
}
Tensor all(Arg self, OptionalIntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  return reduce(op, self, dim.value_or({}), keepdim);
}
Tensor ReductionMethods::all(OptionalIntArrayRef dim, bool keepdim, Site site) const {
  return groove::all({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::all(Site site) const {
  const CallFrame frame(site);
  return reduce(op, {self(), site}, {}, false);
}
Tensor ReductionMethods::all(std::int64_t dim, bool keepdim, Site site) const {
  const CallFrame frame(site);
  return reduce(op, {self(), site}, dim, keepdim);
}

}  // namespace groove
