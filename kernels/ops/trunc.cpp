// trunc: self without its fraction.
#include <cmath>

#include "kernels/ops/rounding.h"

namespace groove {
namespace {

const Op& op = define_rounding<kernels::trunc>("trunc", [](double x) { return std::trunc(x); });

}  // namespace

Tensor trunc(Arg self) { return call(op, self); }
Tensor MathMethods::trunc(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::trunc_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
