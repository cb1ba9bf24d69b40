// The run-time numbers of a segment as the 64-bit words that programs are given, and back.
#pragma once

#include <bit>
#include <cstdint>

#include "groove/scalar.h"

namespace groove::tracer {

/// kDouble or kLong: how the word of a number is to be read.
inline ScalarType word_kind(const Scalar& number) {
  return number.isFloatingPoint() ? kDouble : kLong;
}
inline std::uint64_t word_of(const Scalar& number) { return number.bits_as(word_kind(number)); }

/// The number in a word; `kind` is what Scalar::type() was.
inline Scalar number_in(std::uint64_t word, ScalarType kind) {
  if (kind == kDouble) return Scalar(std::bit_cast<double>(word));
  if (kind == kBool) return Scalar(word != 0);
  return Scalar(static_cast<std::int64_t>(word));
}

}  // namespace groove::tracer
