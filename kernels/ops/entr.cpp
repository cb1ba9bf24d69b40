// entr: -self * log(self), what an outcome of that probability adds to an entropy; 0 at 0,
// -infinity below.
#include <cmath>

#include "groove/ops/special.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "entr",
    .body =
        [](kernels::Expr x) {
          const auto number = [&](double value) { return x.builder().constant(x.dtype(), value); };
          const kernels::Expr other = select(lt(x, 0.0), number(-INFINITY), x);  // 0 and NaN
          return select(gt(x, 0.0), -x * kernels::log(x), other);
        },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), neg(log(g.input(0)) + 1))}; },
    .saves_input = true,
    .reference = [](double x) { return x > 0    ? -x * std::log(x)
                                       : x == 0 ? 0.0
                                                : -INFINITY; },
    .domain = {0.1, 3},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 3,
});

}  // namespace

Tensor special_entr(Arg self) { return call(op, self); }

}  // namespace groove
