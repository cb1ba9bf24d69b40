// signbit: is the sign bit set? Also that of -0.0, and never that of NaN.
#include <cmath>

#include "groove/ops/elementwise.h"
#include "kernels/ops/float_bits.h"
#include "kernels/ops/number_test.h"

namespace groove {
namespace {

const Op& op = define_number_test(
    "signbit",
    [](kernels::Expr x) {
      const bool has_sign = x.dtype() != kBool && x.dtype() != kByte;
      return has_sign ? is_negative(x) : x.builder().constant_int(kBool, 0);
    },
    [](double x) -> double { return !std::isnan(x) && std::signbit(x); });

}  // namespace

Tensor signbit(Arg self) { return call(op, self); }
Tensor ElementwiseMethods::signbit(Site site) const { return call(op, {self(), site}); }

}  // namespace groove
