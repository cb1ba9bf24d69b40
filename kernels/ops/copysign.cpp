// copysign: the magnitude of self with the sign of other, also that of -0.0; NaN counts as
// positive.
#include <cmath>

#include "kernels/ops/float_bits.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

kernels::Expr body(kernels::Expr x, kernels::Expr y) {
  const kernels::Expr magnitude = kernels::abs(x);
  return select(is_negative(y), -magnitude, magnitude);
}

// 1 where the sign stays, -1 where it turns; at 0 there is no slope.
const Op& op = define(BinarySpec{
    .name = "copysign",
    .body = body,
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) {
            const Tensor slope = mul(sign(g.input(0)), copysign(ones_like(g.input(1)), g.input(1)));
            result[0] = reduced_to(mul(g.cotangent(), slope), g.input_types[0]);
          }
          if (g.needs[1]) result[1] = zeros(g.input_types[1].sizes, g.input_types[1].dtype);
          return result;
        },
    .saves_inputs = 3,
    .reference = [](double a, double b) { return std::copysign(a, std::isnan(b) ? 1 : b); },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .tolerance_ulp = 0,
});

// In the dtype of the result: one of unsigned integers has no sign.
Tensor number_with_sign(const Tensor& self, Scalar number, Site site) {
  const ScalarType dtype = result_type(Arg(self, site), number);
  return full({}, number, is_floating(dtype) ? dtype : get_default_dtype(), site);
}

}  // namespace

Tensor copysign(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor copysign(Arg self, Scalar other) {
  const SiteScope scope(self.site);
  checked("copysign", *self.tensor);
  return call(op, self, number_with_sign(*self.tensor, other, self.site));
}
Tensor ElementwiseMethods::copysign(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ElementwiseMethods::copysign(Scalar other, Site site) const {
  return groove::copysign({self(), site}, other);
}
Tensor& ElementwiseMethods::copysign_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& ElementwiseMethods::copysign_(Scalar other, Site site) const {
  const SiteScope scope(site);
  checked("copysign_", self());
  return call_inplace(op, writable(self()), {number_with_sign(self(), other, site)}, site);
}

}  // namespace groove
