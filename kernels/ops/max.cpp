// max: the greatest element, over all axes or some (amax), or along one axis with its position. NaN
// if an element is; over nothing an error.
#include "kernels/ops/extremum.h"
#include "kernels/ops/ranking.h"

namespace groove {
namespace {

const ExtremumOps ops = define_extremum({
    .value_name = "amax",
    .indexed_name = "max_with_index",
    .position_name = "argmax",
    .value = kernels::Prim::kReduceMax,
    .position = kernels::Prim::kReduceArgMax,
    .is_before = [](double a, double b) { return a > b; },
});

}  // namespace

Tensor max(Arg self) {
  const CallFrame frame(self.site);
  return extremum(ops.value, self, {}, false);
}
Tensor amax(Arg self, IntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  return extremum(ops.value, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> max(Arg self, std::int64_t dim, bool keepdim) {
  const CallFrame frame(self.site);
  return extremum_with_index("max", ops.with_index, self, dim, keepdim);
}
Tensor argmax(Arg self, std::optional<std::int64_t> dim, bool keepdim) {
  const CallFrame frame(self.site);
  check_ranked("argmax", *self.tensor);
  return extremum_position(ops.position, self, dim, keepdim);
}

Tensor ReductionMethods::max(Site site) const { return groove::max({self(), site}); }
std::tuple<Tensor, Tensor> ReductionMethods::max(std::int64_t dim, bool keepdim, Site site) const {
  return groove::max({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::amax(IntArrayRef dim, bool keepdim, Site site) const {
  return groove::amax({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::argmax(std::optional<std::int64_t> dim, bool keepdim, Site site) const {
  return groove::argmax({self(), site}, dim, keepdim);
}

}  // namespace groove
