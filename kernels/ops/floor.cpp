// floor: the greatest integer not above self.
#include <cmath>

#include "kernels/ops/rounding.h"

namespace groove {
namespace {

const Op& op = define_rounding<kernels::floor>("floor", [](double x) { return std::floor(x); });

}  // namespace

Tensor floor(Arg self) { return call(op, self); }
Tensor MathMethods::floor(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::floor_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
