// What a dtype holds of a number.
#include "src/core/held_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/check.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

bool is_held_by_integers(const Scalar& number, ScalarType dtype) {
  const ValueRange all = values_of(dtype);
  const double value = number.to_double();
  if (number.isFloatingPoint()) {
    const bool is_long = dtype == kLong;  // whose greatest number is no double
    return value >= all.low && (is_long ? value < 0x1p63 : value < all.high + 1);
  }
  if (dtype == kLong) return true;
  return value <= all.high && value >= (dtype == kByte ? -all.high : all.low);
}

}  // namespace

double greatest_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    case kFloat:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

bool is_held(const Scalar& number, ScalarType dtype) {
  const ScalarType part = real_dtype(dtype);
  if (part == kDouble || part == kBool) return true;
  const Scalar plain = number.with_origin(-1);  // nothing is derived from its value
  if (is_integral(part)) return is_held_by_integers(plain, part);
  const double value = plain.to_double();
  return !std::isfinite(value) || std::fabs(value) <= greatest_of(part);
}

void check_held(const char* op, const Scalar& number, ScalarType dtype) {
  GROOVE_CHECK(is_held(number, dtype), "{}: {} cannot be converted to type {} without overflow", op,
               number.to_double(), name(dtype));
}

void check_element(const char* op, const Scalar& number, ScalarType dtype) {
  if (dtype != kHalf && dtype != kBFloat16) check_held(op, number, dtype);
}

Scalar nearest_held(const Scalar& number, ScalarType dtype) {
  if (!is_integral(dtype)) return number;
  const ValueRange all = values_of(dtype);
  if (number.isFloatingPoint() && number.to_double() >= 0x1p63)
    return nearest_held(std::numeric_limits<std::int64_t>::max(), dtype);
  if (dtype == kLong) return number.to_int();
  return std::clamp(number.to_int(), static_cast<std::int64_t>(all.low),
                    static_cast<std::int64_t>(all.high));
}

Scalar bound_for(const char* op, const Tensor& x, const Scalar& bound, bool is_lower) {
  if (!x.defined()) return bound;
  const Type type{x.impl()->dtype, x.impl()->geometry.sizes};
  const ScalarType dtype = result_type(ArrayRef<Type>(type), ArrayRef<Scalar>(bound));
  if (!is_integral(dtype)) {
    if (is_floating(dtype)) check_held(op, bound, dtype);
    return bound;
  }
  const Scalar held = nearest_held(bound, dtype);
  const bool is_beyond = is_lower ? held.to_int() < bound.to_int() : held.to_int() > bound.to_int();
  GROOVE_CHECK(!is_beyond, "{}: no {} is {} {}", op, name(dtype), is_lower ? "at least" : "at most",
               bound.to_int());
  return held;
}

}  // namespace groove
