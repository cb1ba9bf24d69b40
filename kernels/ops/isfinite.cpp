// isfinite: which elements are neither infinite nor NaN?
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/number_test.h"

namespace groove {
namespace {

const Op& op = define_number_test(
    "isfinite", [](kernels::Expr x) { return kernels::lt(float_magnitude(x), INFINITY); },
    [](double x) -> double { return std::isfinite(x); },
    [](const Call& c) { return all(isfinite(pair_of(c.inputs[0])), -1); });

}  // namespace

Tensor isfinite(Arg self) { return call(op, self); }
Tensor MathMethods::isfinite(Site site) const { return call(op, {self(), site}); }

}  // namespace groove
