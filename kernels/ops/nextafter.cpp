// nextafter: the number next to self on the way to other. Numbers of one sign are in the order of
// their bits; 0 is left to the smallest one of other's sign.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/float_bits.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using kernels::Expr;

Expr body(Expr x, Expr y) {
  const Expr bits = bits_of(x);
  const auto word = [&](std::int64_t value) {
    return bits.builder().constant_int(bits.dtype(), value);
  };
  const Expr grows = ~(kernels::gt(y, x) ^ kernels::gt(x, 0.0));
  const Expr next = bitcast(select(grows, bits + word(1), bits - word(1)), x.dtype());
  const Expr least = bitcast(word(1), x.dtype());
  const Expr from_zero = select(kernels::lt(y, 0.0), -least, least);
  const Expr moved = select(kernels::eq(x, 0.0), from_zero, next);
  const Expr result = select(kernels::eq(x, y), y, moved);
  return select(is_nan(x) | is_nan(y), x + y, result);
}

TypeResult type(const Signature& s) {
  const TypeResult result = promoted(s);
  const ScalarType dtype = result.outputs[0].dtype;
  GROOVE_CHECK_AS(NotImplementedError, dtype == kFloat || dtype == kDouble,
                  "nextafter: not defined for {} tensors; convert to a floating dtype",
                  name(dtype));
  return result;
}

const Op& op = define(BinarySpec{
    .name = "nextafter",
    .body = body,
    .reference = [](double a, double b) { return std::nextafter(a, b); },
    .type = type,
    .dtypes = {kDouble},
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
