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

/// The number in a call; `kind` is what Scalar::type() was.
inline Scalar number_in(std::uint64_t word, ScalarType kind) {
  if (kind == kDouble) return Scalar(std::bit_cast<double>(word));
  if (kind == kBool) return Scalar(word != 0);
  return Scalar(static_cast<std::int64_t>(word));
}

}  // namespace groove::tracer
