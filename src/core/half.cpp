// Conversions between f64 and the two 16-bit formats, for host reads and numbers.
#include "src/core/half.h"

#include <bit>
#include <cmath>

namespace groove {
namespace {

// IEEE formats with an exponent and a mantissa of the given widths in 16 bits.
std::uint16_t narrow(double value, int mantissa_bits, int bias) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponent_field = (1 << (15 - mantissa_bits)) - 1;
  const std::uint16_t infinity = static_cast<std::uint16_t>(exponent_field << mantissa_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | (1 << (mantissa_bits - 1)));
  const double size = std::fabs(value);
  if (std::isinf(size)) return sign | infinity;
  if (size == 0) return sign;
  int exponent = std::ilogb(size);
  if (exponent < 1 - bias) exponent = 1 - bias;  // denormals share the lowest exponent
  // In units of the last place; nearbyint rounds to even, and a carry moves into the exponent.
  const auto units =
      static_cast<std::int64_t>(std::nearbyint(std::ldexp(size, mantissa_bits - exponent)));
  const std::int64_t bits =
      (static_cast<std::int64_t>(exponent + bias - 1) << mantissa_bits) + units;
  if (bits >= infinity) return sign | infinity;
  return static_cast<std::uint16_t>(sign | bits);
}

double widen(std::uint16_t bits, int mantissa_bits, int bias) {
  const int field = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int highest = (1 << (15 - mantissa_bits)) - 1;
  double size;
  if (field == highest) {
    size = mantissa ? std::nan("") : HUGE_VAL;
  } else if (field == 0) {
    size = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    size = std::ldexp(mantissa + (1 << mantissa_bits), field - bias - mantissa_bits);
  }
  return bits & 0x8000 ? -size : size;
}

}  // namespace

std::uint16_t half_bits(double value) { return narrow(value, 10, 15); }
std::uint16_t bfloat16_bits(double value) { return narrow(value, 7, 127); }
double half_value(std::uint16_t bits) { return widen(bits, 10, 15); }
double bfloat16_value(std::uint16_t bits) { return widen(bits, 7, 127); }

}  // namespace groove
