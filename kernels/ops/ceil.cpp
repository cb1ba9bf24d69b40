// ceil: the least integer not below self.
#include <cmath>

#include "kernels/ops/rounding.h"

namespace groove {
namespace {

const Op& op = define_rounding<kernels::ceil>("ceil", [](double x) { return std::ceil(x); });

}  // namespace

Tensor ceil(Arg self) { return call(op, self); }
Tensor MathMethods::ceil(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::ceil_(Site site) const { return call_inplace(op, writable(self()), {}, site); }

}  // namespace groove
