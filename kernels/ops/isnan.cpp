// isnan: which elements are no numbers?
#include <cmath>

#include "kernels/ops/complex_rules.h"
#include "kernels/ops/number_test.h"

namespace groove {
namespace {

const Op& op = define_number_test(
    "isnan", [](kernels::Expr x) { return kernels::is_nan(x); },
    [](double x) -> double { return std::isnan(x); },
    [](const Call& c) { return any(isnan(pair_of(c.inputs[0])), -1); });

}  // namespace

Tensor isnan(Arg self) { return call(op, self); }
Tensor MathMethods::isnan(Site site) const { return call(op, {self(), site}); }

}  // namespace groove
