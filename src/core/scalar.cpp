// Numbers as kernels receive them: the conversions of the numeric contract, on the host.
#include "groove/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include "src/core/check.h"
#include "src/core/half.h"
#include "src/core/held_numbers.h"
#include "src/core/number_watch.h"

namespace groove {
namespace {

// Truncates; what does not fit, and NaN, is the lowest value.
template <typename T>
T truncate(double value) {
  constexpr double kBound = -static_cast<double>(std::numeric_limits<T>::min());  // 2^31 or 2^63
  const double whole = std::trunc(value);
  if (!(whole >= -kBound && whole < kBound)) return std::numeric_limits<T>::min();
  return static_cast<T>(whole);
}

}  // namespace

namespace detail {
void (*number_read_hook)(int origin) = nullptr;
void number_was_read(int origin) {
  if (!NumberWatch::note(origin) && number_read_hook) number_read_hook(origin);
}
}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Scalar& number) {
  if (number.isBoolean()) return out << (number.toBool() ? "true" : "false");
  return number.isFloatingPoint() ? out << number.to_double() : out << number.to_int();
}

Scalar Scalar::log() const { return std::log(to_double()); }

std::int64_t Scalar::to_int() const {
  if (origin_ >= 0) [[unlikely]] detail::number_was_read(origin_);
  return kind_ == kDouble ? truncate<std::int64_t>(floating_) : integer_;
}

// As LibTorch's checked_convert (c10/util/TypeCast.h).
std::int64_t Scalar::int_within(unsigned width, bool is_signed) const {
  const bool is_known = width == 32 && is_signed;
  const auto check = [&](bool is_held) {
    GROOVE_CHECK(is_held, "item: value cannot be converted to type {}{}{} without overflow",
                 is_signed ? "int" : "uint", is_known ? "" : std::to_string(width),
                 is_known ? "" : "_t");
  };
  const int bits = static_cast<int>(width) - (is_signed ? 1 : 0);
  const double limit = std::ldexp(1.0, bits);  // the first one that is too large
  if (kind_ != kDouble) {
    const std::int64_t value = to_int();
    // Of 64 bits any number fits, negative ones as their unsigned complement.
    if (width < 64) {
      const std::int64_t greatest = (std::int64_t{1} << bits) - 1;
      check(value <= greatest && value >= (is_signed ? -greatest - 1 : -greatest));
    }
    return value;
  }
  const double value = to_double();
  check(value >= (is_signed ? -limit : 0.0) && value < limit);
  return value < 0x1p63 ? truncate<std::int64_t>(value)
                        : static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

double Scalar::real_within(ScalarType dtype) const {
  const double value = to_double();
  GROOVE_CHECK(is_held(value, dtype), "item: value cannot be converted to type {} without overflow",
               dtype == kFloat  ? "float"
               : dtype == kHalf ? "c10::Half"
                                : "c10::BFloat16");
  return value;
}

std::uint64_t Scalar::bits_as(ScalarType dtype) const {
  // Handing the number to a kernel derives nothing from it.
  if (origin_ >= 0) return with_origin(-1).bits_as(dtype);
  // Narrower integers go through i32 and wrap.
  const auto as_i32 = [this] {
    return kind_ == kDouble ? truncate<std::int32_t>(floating_)
                            : static_cast<std::int32_t>(integer_);
  };
  // One rounding: an i64 goes to f32 directly.
  const auto as_float = [this] {
    return kind_ == kDouble ? static_cast<float>(floating_) : static_cast<float>(integer_);
  };
  // An i64 of more than 53 bits keeps one bit for all below its upper 52, so that only the 16-bit
  // format rounds.
  const auto without_rounding = [this] {
    if (kind_ == kDouble) return floating_;
    const std::int64_t low = integer_ & 0xfff, limit = std::int64_t{1} << 53;
    const bool is_long = integer_ >= limit || integer_ <= -limit;
    return static_cast<double>(is_long ? (integer_ - low) | (low ? 0x800 : 0) : integer_);
  };
  switch (dtype) {
    case kFloat:
      return std::bit_cast<std::uint32_t>(as_float());
    case kDouble:
      return std::bit_cast<std::uint64_t>(to_double());
    case kLong:
      return static_cast<std::uint64_t>(to_int());
    case kInt:
      return static_cast<std::uint32_t>(as_i32());
    case kShort:
      return static_cast<std::uint16_t>(as_i32());
    case kChar:
    case kByte:
      return static_cast<std::uint8_t>(as_i32());
    case kBool:
      return toBool() ? 1 : 0;
    case kHalf:
      return half_bits(without_rounding());
    case kBFloat16:
      return bfloat16_bits(without_rounding());
    default:
      return 0;
  }
}

}  // namespace groove
