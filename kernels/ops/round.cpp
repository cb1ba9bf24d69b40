// round: the nearest integer, of two the even one.
#include <cmath>

#include "kernels/ops/rounding.h"

namespace groove {
namespace {

const Op& op =
    define_rounding<kernels::round_even>("round", [](double x) { return std::nearbyint(x); });

}  // namespace

Tensor round(Arg self) { return call(op, self); }
Tensor MathMethods::round(Site site) const { return call(op, {self(), site}); }
Tensor& MathMethods::round_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
