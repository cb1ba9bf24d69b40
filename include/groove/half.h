// The 16-bit floats as C++ types: storage only. Arithmetic happens in float, where values go
// implicitly, and a float becomes a 16-bit one by rounding once to even.
#pragma once

#include <cstdint>
#include <iosfwd>

namespace groove {

struct alignas(2) Half {  // IEEE binary16
  std::uint16_t x = 0;

  Half() = default;
  Half(float value);
  operator float() const;
  static Half from_bits(std::uint16_t bits) {
    Half result;
    result.x = bits;
    return result;
  }
};

struct alignas(2) BFloat16 {  // the upper half of a binary32
  std::uint16_t x = 0;

  BFloat16() = default;
  BFloat16(float value);
  operator float() const;
  static BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 result;
    result.x = bits;
    return result;
  }
};

/// As floats are written.
std::ostream& operator<<(std::ostream& out, Half value);
std::ostream& operator<<(std::ostream& out, BFloat16 value);

}  // namespace groove
