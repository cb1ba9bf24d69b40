// minimum: the smaller operand, NaN if either is.
#include <algorithm>
#include <cmath>

#include "kernels/ops/extremum.h"

namespace groove {
namespace {

const Op& op = define_pairwise({
    .name = "minimum",
    .body = kernels::min_nan,
    .loses = gt,
    .wins = lt,
    .reference = [](double a,
                    double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b); },
});

}  // namespace

Tensor minimum(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor min(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor MathMethods::minimum(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ReductionMethods::min(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}

}  // namespace groove
