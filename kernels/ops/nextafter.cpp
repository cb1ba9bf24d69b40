// nextafter: the number next to self on the way to other. Numbers of one sign are in the order of
// their bits; 0 is left to the smallest one of other's sign.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/float_bits.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

using kernels::Expr;

// In steps of so many units of the last place.
Expr neighbour(Expr x, Expr y, std::int64_t units) {
  const Expr bits = bits_of(x);
  const auto word = [&](std::int64_t value) {
    return bits.builder().constant_int(bits.dtype(), value);
  };
  const Expr grows = ~(kernels::gt(y, x) ^ kernels::gt(x, 0.0));
  const Expr next = bitcast(select(grows, bits + word(units), bits - word(units)), x.dtype());
  const Expr least = bitcast(word(units), x.dtype());
  const Expr from_zero = select(kernels::lt(y, 0.0), -least, least);
  return select(kernels::eq(x, 0.0), from_zero, next);
}

// Of f16 as f32: up to 2^-14 the steps have one length, and infinity is no step from the greatest.
Expr neighbour_of_half(Expr x, Expr y) {
  constexpr double kShort = 0x1p-24, kGreatest = 65504;
  const auto with_sign = [](Expr sign, Expr magnitude) {
    return select(is_negative(sign), -magnitude, magnitude);
  };
  const Expr stepped = select(kernels::gt(y, x), x + kShort, x - kShort);
  const Expr near_zero = with_sign(select(kernels::eq(x, 0.0), y, x), kernels::abs(stepped));
  const Expr is_small = kernels::lt(kernels::abs(x), 0x1.0008p-14);
  const Expr moved = select(is_small, near_zero, neighbour(x, y, 1 << 13));
  const Expr greatest = x.builder().constant(x.dtype(), kGreatest);
  return select(kernels::gt(kernels::abs(x), kGreatest), with_sign(x, greatest), moved);
}

kernels::Exprs body(kernels::Body& b) {
  const ScalarType dtype = result_type(b.signature.inputs);
  const Expr &x = b.inputs[0], &y = b.inputs[1];
  const Expr moved =
      dtype == kHalf ? neighbour_of_half(x, y) : neighbour(x, y, dtype == kBFloat16 ? 1 << 16 : 1);
  const Expr result = select(kernels::eq(x, y), y, moved);
  return {select(is_nan(x) | is_nan(y), x + y, result)};
}

TypeResult type(const Signature& s) {
  const TypeResult result = promoted(s);
  const ScalarType dtype = result.outputs[0].dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "nextafter: not defined for {} tensors; convert to a floating dtype",
                  name(dtype));
  return result;
}

const Op& op = define({
    .name = "nextafter",
    .inputs = 2,
    .type = type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{.body = body}),
    .reference = elementwise_reference(
        [](const std::vector<double>& x, const Signature&) { return std::nextafter(x[0], x[1]); }),
    .dtypes = {kDouble},
    .samples = binary_samples,
    .tolerance_ulp = 0,
});

}  // namespace

Tensor nextafter(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor ElementwiseMethods::nextafter(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor& ElementwiseMethods::nextafter_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}

}  // namespace groove
