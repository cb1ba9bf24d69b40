// min: the smallest element, over all axes or some (amin), or along one axis with its position. NaN
// if an element is; over nothing an error.
#include "kernels/ops/extremum.h"
#include "kernels/ops/ranking.h"

namespace groove {
namespace {

const ExtremumOps ops = define_extremum({
    .value_name = "amin",
    .indexed_name = "min_with_index",
    .position_name = "argmin",
    .value = kernels::Prim::kReduceMin,
    .position = kernels::Prim::kReduceArgMin,
    .is_before = [](double a, double b) { return a < b; },
});

}  // namespace

Tensor min(Arg self) {
  const CallFrame frame(self.site);
  return extremum(ops.value, self, {}, false);
}
Tensor amin(Arg self, IntArrayRef dim, bool keepdim) {
  const CallFrame frame(self.site);
  return extremum(ops.value, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> min(Arg self, std::int64_t dim, bool keepdim) {
  const CallFrame frame(self.site);
  return extremum_with_index("min", ops.with_index, self, dim, keepdim);
}
Tensor argmin(Arg self, std::optional<std::int64_t> dim, bool keepdim) {
  const CallFrame frame(self.site);
  check_ranked("argmin", *self.tensor);
  return extremum_position(ops.position, self, dim, keepdim);
}

Tensor ReductionMethods::min(Site site) const { return groove::min({self(), site}); }
std::tuple<Tensor, Tensor> ReductionMethods::min(std::int64_t dim, bool keepdim, Site site) const {
  return groove::min({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::amin(IntArrayRef dim, bool keepdim, Site site) const {
  return groove::amin({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::argmin(std::optional<std::int64_t> dim, bool keepdim, Site site) const {
  return groove::argmin({self(), site}, dim, keepdim);
}

}  // namespace groove
