// fmod: what is left of self after whole multiples of other, with the sign of self.
#include <cmath>

#include "kernels/ops/whole_division.h"

namespace groove {
namespace {

const Op& op = define_whole_division({
    .name = "fmod",
    .body = rest_of_division,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
          if (g.needs[1]) {
            const Tensor multiples = trunc(div(g.input(0), g.input(1)));
            result[1] = reduced_to(neg(mul(g.cotangent(), multiples)), g.input_types[1]);
          }
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a, double b) { return std::fmod(a, b); },
    .domain = {1, 7},
    .tolerance_ulp = 0,
});

const Op& op_scalar = define(ScalarSpec{
    .name = "fmod_scalar",
    .body = rest_of_division,
    .gradient = [](const Grad& g) { return Tensors{reduced_to(g.cotangent(), g.input_types[0])}; },
    .reference = [](double a, double b) { return std::fmod(a, b); },
    .domain = {-7, 7},
    .type = whole_division_type,
    .numbers = {3, -2},
    .tolerance_ulp = 0,
});

}  // namespace

Tensor fmod(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor fmod(Arg self, Scalar other) {
  const CallFrame frame(self.site);
  check_divisor("fmod", *self.tensor, other);
  return call(op_scalar, self, other);
}
Tensor MathMethods::fmod(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::fmod(Scalar other, Site site) const {
  return groove::fmod({self(), site}, other);
}
Tensor& InPlaceMethods::fmod_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::fmod_(Scalar other, Site site) const {
  const CallFrame frame(site);
  check_divisor("fmod_", self(), other);
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}

}  // namespace groove
