// silu: self * sigmoid(self), the Swish of Ramachandran et al. 2017.
#include <cmath>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(UnarySpec{
    .name = "silu",
    .body = [](kernels::Expr x) { return kernels::silu(x); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const Tensor s = sigmoid(x);
          return Tensors{mul(g.cotangent(), mul(s, mul(x, 1 - s) + 1))};
        },
    .saves_input = true,
    .reference = [](double x) { return x / (1 + std::exp(-x)); },
    .domain = {-6, 6},
    .type = floating_only,
    .dtypes = floating_dtypes(),
});

}  // namespace

Tensor silu(Arg self) { return call(op, self); }

}  // namespace groove
