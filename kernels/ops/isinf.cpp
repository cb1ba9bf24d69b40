// isinf: which elements are infinite?
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/number_test.h"

namespace groove {
namespace {

const Op& op = define_number_test(
    "isinf", [](kernels::Expr x) { return kernels::eq(float_magnitude(x), INFINITY); },
    [](double x) -> double { return std::isinf(x); },
    [](const Call& c) { return any(isinf(pair_of(c.inputs[0])), -1); });

}  // namespace

Tensor isinf(Arg self) { return call(op, self); }
Tensor MathMethods::isinf(Site site) const { return call(op, {self(), site}); }

}  // namespace groove
