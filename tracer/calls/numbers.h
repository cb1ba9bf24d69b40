// The run-time numbers of a segment as the 64-bit calls that programs are given, and back.
#pragma once

#include <bit>
#include <cstdint>

#include "groove/scalar.h"

namespace groove::tracer {

/// kDouble or kLong: how the call of a number is to be read.
inline ScalarType number_kind(const Scalar& number) {
  return number.isFloatingPoint() ? kDouble : kLong;
}
inline std::uint64_t number_bits(const Scalar& number) {
  return number.bits_as(number_kind(number));
}

/// Where views begin, folded into 32 bits: 0 as long as nothing was added.
class Position {
 public:
  void add(std::uint64_t bits) {
    folded_ = (folded_ ^ bits ^ 1) * 0x9e3779b97f4a7c15u;
    folded_ ^= folded_ >> 29;
    is_one_ = 1;
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(folded_ >> 32) | is_one_; }

 private:
  std::uint64_t folded_ = 0;
  std::uint32_t is_one_ = 0;
};

/// The number in a call; `kind` is what Scalar::type() was.
inline Scalar number_in(std::uint64_t word, ScalarType kind) {
  if (kind == kDouble) return Scalar(std::bit_cast<double>(word));
  if (kind == kBool) return Scalar(word != 0);
  return Scalar(static_cast<std::int64_t>(word));
}

}  // namespace groove::tracer
