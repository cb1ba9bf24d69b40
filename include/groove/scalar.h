// A number passed to an op: a double, an integer or a bool, as the caller wrote it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include "groove/dtype.h"

namespace groove {

namespace detail {
// While a loop is recorded, numbers carry their origin. Whoever looks at the value of one on the
// host may derive another from it, so that number becomes part of the loop's structure.
void number_was_read(int origin);
extern void (*number_read_hook)(int origin);
}  // namespace detail

class Scalar {
 public:
  constexpr Scalar() : Scalar(static_cast<std::int64_t>(0)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = kBool;
      integer_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = kLong;
      integer_ = static_cast<std::int64_t>(value);
    } else {
      kind_ = kDouble;
      floating_ = static_cast<double>(value);
    }
  }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}

  /// kDouble, kLong or kBool.
  constexpr ScalarType type() const { return kind_; }
  constexpr bool isFloatingPoint() const { return kind_ == kDouble; }
  constexpr bool isIntegral(bool include_bool = false) const {
    return kind_ == kLong || (include_bool && kind_ == groove::kBool);
  }
  constexpr bool isBoolean() const { return kind_ == groove::kBool; }
  constexpr double to_double() const {
    if (origin_ >= 0) [[unlikely]] detail::number_was_read(origin_);
    return kind_ == kDouble ? floating_ : static_cast<double>(integer_);
  }
  constexpr double toDouble() const { return to_double(); }
  float toFloat() const { return to<float>(); }
  std::int64_t to_int() const;  // truncates as the numeric contract says
  std::int64_t toLong() const { return to<std::int64_t>(); }
  std::int32_t toInt() const { return to<std::int32_t>(); }
  std::int16_t toShort() const { return to<std::int16_t>(); }
  std::int8_t toChar() const { return to<std::int8_t>(); }
  std::uint8_t toByte() const { return to<std::uint8_t>(); }
  bool isComplex() const { return false; }
  bool toBool() const {
    if (origin_ >= 0) [[unlikely]] detail::number_was_read(origin_);
    return raw_bool();
  }
  /// Throws groove::Error for a number that T does not hold; a negative whole one becomes an
  /// unsigned T if its magnitude is one.
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>)
      return toBool();
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(int_within(8 * sizeof(T), std::is_signed_v<T>));
    else
      return static_cast<T>(sizeof(T) < sizeof(double) ? real_within(kFloat) : to_double());
  }
  template <typename T>
  requires std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> T to() const {
    real_within(dtype_of<T>);
    return T::from_bits(static_cast<std::uint16_t>(bits_as(dtype_of<T>)));
  }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }

  /// The bits of this number in a dtype, as kernels receive it.
  std::uint64_t bits_as(ScalarType dtype) const;

  Scalar operator-() const { return isFloatingPoint() ? Scalar(-to_double()) : Scalar(-to_int()); }
  Scalar conj() const { return *this; }
  /// The natural logarithm, as a double.
  Scalar log() const;
  /// The same value, whatever the type.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  bool equal(T number) const {
    return isFloatingPoint() ? to_double() == static_cast<double>(number) : to_int() == number;
  }

  // Where a number inside the expansion of a library call came from: its index among the call's own
  // numbers, or -1 for a literal. Carried along, never compared.
  constexpr int origin() const { return origin_; }
  constexpr Scalar with_origin(int index) const {
    Scalar copy = *this;
    copy.origin_ = static_cast<std::int16_t>(index);
    return copy;
  }

 private:
  std::int64_t int_within(unsigned width, bool is_signed) const;
  double real_within(ScalarType dtype) const;
  bool raw_bool() const { return kind_ == kDouble ? floating_ != 0 : integer_ != 0; }

  union {
    double floating_;
    std::int64_t integer_;
  };
  ScalarType kind_;
  std::int16_t origin_ = -1;
};

std::ostream& operator<<(std::ostream& out, const Scalar& number);

}  // namespace groove
