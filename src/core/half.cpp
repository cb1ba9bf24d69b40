// Conversions to and from the two 16-bit formats: from f64 for host reads and numbers, from f32 by
// integers alone, without a rounding mode.
#include "src/core/half.h"

#include <bit>
#include <cmath>
#include <ostream>

#include "groove/half.h"

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

namespace {

constexpr std::uint32_t kInfinity = 0x7f800000, kSizeMask = 0x7fffffff;

std::uint32_t sign_of(std::uint32_t bits) { return bits >> 16 & 0x8000; }

// bits / 2^shift, to nearest even.
std::uint32_t shifted(std::uint32_t bits, int shift) {
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

}  // namespace

std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & kSizeMask;
  std::uint32_t result;
  if (size > kInfinity) {
    result = 0x7e00;
  } else if (size >= std::bit_cast<std::uint32_t>(65520.0f)) {
    result = 0x7c00;
  } else if (size >= std::bit_cast<std::uint32_t>(0x1p-14f)) {
    result = shifted(size - (112u << 23), 13);  // a carry moves into the exponent
  } else if (size > std::bit_cast<std::uint32_t>(0x1p-25f)) {
    // a denormal: units of 2^-24
    result = shifted((size & 0x7fffff) | 0x800000, 126 - static_cast<int>(size >> 23));
  } else {
    result = 0;
  }
  return static_cast<std::uint16_t>(sign_of(bits) | result);
}

std::uint16_t bfloat16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & kSizeMask;
  const std::uint32_t result = size > kInfinity ? 0x7fc0 : shifted(size, 16);
  return static_cast<std::uint16_t>(sign_of(bits) | result);
}

float float_from_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t field = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (field == 0x1f) {
    const std::uint32_t quiet = mantissa ? 0x400000 : 0;
    return std::bit_cast<float>(sign | kInfinity | quiet | mantissa << 13);
  }
  if (field == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -size : size;
  }
  return std::bit_cast<float>(sign | (field + 112) << 23 | mantissa << 13);
}

float float_from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

Half::Half(float value) : x(half_from_float(value)) {}
Half::operator float() const { return float_from_half(x); }
BFloat16::BFloat16(float value) : x(bfloat16_from_float(value)) {}
BFloat16::operator float() const { return float_from_bfloat16(x); }

std::ostream& operator<<(std::ostream& out, Half value) { return out << static_cast<float>(value); }
std::ostream& operator<<(std::ostream& out, BFloat16 value) {
  return out << static_cast<float>(value);
}

}  // namespace groove
