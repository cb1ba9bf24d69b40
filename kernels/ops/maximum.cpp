// maximum: the greater operand, NaN if either is.
#include <algorithm>
#include <cmath>

#include "kernels/ops/extremum.h"

namespace groove {
namespace {

const Op& op = define_pairwise({
    .name = "maximum",
    .body = kernels::max_nan,
    .loses = lt,
    .wins = gt,
    .reference = [](double a,
                    double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); },
});

}  // namespace

Tensor maximum(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor max(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor MathMethods::maximum(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ReductionMethods::max(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}

}  // namespace groove
