// logaddexp and logaddexp2: logarithms of sums whose terms are given by their own, to base e and 2;
// the greater one and what the difference adds to it, so that nothing overflows.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;

// Of equal ones, which may be infinite, the difference is not asked.
const Op& op = define(BinarySpec{
    .name = "logaddexp",
    .body =
        [](Expr a, Expr b) {
          const Expr rest = kernels::log1p(kernels::exp(-kernels::abs(a - b)));
          return select(kernels::eq(a, b), a + 0x1.62e42fefa39efp-1, max_nan(a, b) + rest);
        },
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor apart = g.input(1) - g.input(0);
          if (g.needs[0])
            result[0] = reduced_to(div(g.cotangent(), exp(apart) + 1), g.input_types[0]);
          if (g.needs[1])
            result[1] = reduced_to(div(g.cotangent(), exp(neg(apart)) + 1), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); },
    .domain = {1, 4},
    .type = promoted_floating,
    .tolerance_ulp = 4,
});

const Op& op_binary = define(BinarySpec{
    .name = "logaddexp2",
    .body =
        [](Expr a, Expr b) {
          const Expr rest = kernels::log1p(kernels::exp2(-kernels::abs(a - b)));
          return select(kernels::eq(a, b), a + 1.0, max_nan(a, b) + rest * 0x1.71547652b82fep0);
        },
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor apart = g.input(1) - g.input(0);
          if (g.needs[0])
            result[0] = reduced_to(div(g.cotangent(), exp2(apart) + 1), g.input_types[0]);
          if (g.needs[1])
            result[1] = reduced_to(div(g.cotangent(), exp2(neg(apart)) + 1), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); },
    .domain = {1, 4},
    .type = promoted_floating,
    .tolerance_ulp = 4,
});

}  // namespace

Tensor logaddexp(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor logaddexp2(Arg self, const Tensor& other) { return call(op_binary, self, other); }
Tensor ElementwiseMethods::logaddexp(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ElementwiseMethods::logaddexp2(const Tensor& other, Site site) const {
  return call(op_binary, {self(), site}, other);
}

}  // namespace groove
