// Conversions as expressions. The primitive rounds once between any two dtypes but the 16-bit
// floats, which it knows from and to f32 only. What is wider than f32 reaches them through an f32
// that is rounded to odd: its last bit tells that something was cut off, so the second rounding
// sees a tie only where there is one.
#include "kernels/expr.h"

namespace groove::kernels {
namespace {

bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }
Expr primitive(Expr a, ScalarType dtype) { return a.builder().emit(Prim::kConvert, dtype, a); }

// f64 -> f32, the neighbour with an odd last bit where x lies between two. Bits of a float count
// its size upwards, so the neighbours are one more and one less for either sign.
Expr odd_float(Expr x) {
  Builder& b = x.builder();
  const Expr nearest = primitive(x, kFloat);
  const Expr back = primitive(nearest, kDouble);
  const Expr bits = bitcast(nearest, kInt);
  const Expr one = b.constant_int(kInt, 1);
  const Expr other = select(gt(abs(back), abs(x)), bits - one, bits + one);
  const Expr is_even = eq(bits & one, b.constant_int(kInt, 0));
  return bitcast(select(ne(back, x) & is_even, other, bits), kFloat);
}

// i64 -> f64 with the lowest 12 bits of a long number as one, far below what a 16-bit float keeps.
Expr sticky_double(Expr x) {
  Builder& b = x.builder();
  const Expr low_bits = b.constant_int(kLong, 0xfff), limit = b.constant_int(kLong, 1ll << 53);
  const Expr low = x & low_bits;
  const Expr zero = b.constant_int(kLong, 0);
  const Expr mark = select(ne(low, zero), b.constant_int(kLong, 0x800), zero);
  const Expr is_long = ge(x, limit) | le(x, -limit);
  return primitive(select(is_long, (x - low) | mark, x), kDouble);
}

Expr to_half(Expr a, ScalarType dtype) {
  switch (a.dtype()) {
    case kFloat:
      return primitive(a, dtype);
    case kDouble:
      return primitive(odd_float(a), dtype);
    case kLong:
      return primitive(odd_float(sticky_double(a)), dtype);
    case kInt:
      return primitive(odd_float(primitive(a, kDouble)), dtype);
    default:  // 8 and 16 bits: exact as f32
      return primitive(primitive(a, kFloat), dtype);
  }
}

}  // namespace

Expr convert(Expr a, ScalarType dtype) {
  if (a.dtype() == dtype) return a;
  if (is_half(dtype)) return to_half(is_half(a.dtype()) ? primitive(a, kFloat) : a, dtype);
  if (is_half(a.dtype()) && dtype != kFloat) return primitive(primitive(a, kFloat), dtype);
  return primitive(a, dtype);
}

}  // namespace groove::kernels
