// The meaning of every pure primitive on one element, as C++ without undefined behaviour. Loops
// over strips (steps_*.cpp) and reductions instantiate these; nothing else defines a primitive.
// Bool elements are bytes holding 0 or 1, so all but `not` and conversion treat them as u8.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "groove/dtype.h"

namespace groove::kernels::scalar {

template <typename T>
constexpr bool kFloats = std::is_floating_point_v<T>;

// Wide enough that promotion to int cannot overflow, and unsigned so that it wraps.
template <typename T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), int, T>>;
template <typename T>
using Unsigned = std::make_unsigned_t<T>;

template <typename T>
T add(T a, T b) {
  if constexpr (kFloats<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <typename T>
T sub(T a, T b) {
  if constexpr (kFloats<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <typename T>
T mul(T a, T b) {
  if constexpr (kFloats<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
// Integers truncate; x / 0 is 0 and lowest / -1 wraps to lowest. Ops report both before launching.
template <typename T>
T div(T a, T b) {
  if constexpr (kFloats<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return sub<T>(0, a);
    }
    return static_cast<T>(a / b);
  }
}
template <typename T>
T neg(T a) {
  if constexpr (kFloats<T>)
    return -a;
  else
    return sub<T>(0, a);
}
template <typename T>
T abs(T a) {
  if constexpr (kFloats<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < 0 ? sub<T>(0, a) : a;
  else
    return a;
}
template <typename T>
T max(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T min(T a, T b) {
  return a < b ? a : b;
}

// Inlined to one instruction each; nearbyint reads the rounding mode, which is always to nearest.
template <typename T>
T floor(T a) {
  return std::floor(a);
}
template <typename T>
T ceil(T a) {
  return std::ceil(a);
}
template <typename T>
T trunc(T a) {
  return std::trunc(a);
}
template <typename T>
T round_even(T a) {
  return std::nearbyint(a);
}

inline std::int32_t mul_high(std::int32_t a, std::int32_t b) {
  const std::uint64_t product =
      std::uint64_t{static_cast<std::uint32_t>(a)} * std::uint64_t{static_cast<std::uint32_t>(b)};
  return static_cast<std::int32_t>(product >> 32);
}

// The amount counts as unsigned, so a negative one is >= the width.
template <typename T>
T shift_left(T a, T amount) {
  constexpr Unsigned<T> kWidth = 8 * sizeof(T);
  const auto by = static_cast<Unsigned<T>>(amount);
  return by < kWidth ? static_cast<T>(static_cast<Wrapping<T>>(a) << by) : T{0};
}
template <typename T>
T shift_right_logical(T a, T amount) {
  constexpr Unsigned<T> kWidth = 8 * sizeof(T);
  const auto by = static_cast<Unsigned<T>>(amount);
  return by < kWidth ? static_cast<T>(static_cast<Unsigned<T>>(a) >> by) : T{0};
}
// On u8 there is no sign to copy, so it is the logical shift.
template <typename T>
T shift_right_arithmetic(T a, T amount) {
  constexpr Unsigned<T> kWidth = 8 * sizeof(T);
  const auto by = static_cast<Unsigned<T>>(amount);
  return static_cast<T>(a >> (by < kWidth ? by : static_cast<Unsigned<T>>(kWidth - 1)) >>
                        (std::is_signed_v<T> || by < kWidth ? 0 : 1));
}

// Out of range and NaN give the lowest i32 or i64; narrower integers go through i32 and wrap.
template <typename To, typename From>
To convert(From x) {
  if constexpr (kFloats<From> && !kFloats<To>) {
    using Through = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
    constexpr From kBound = sizeof(To) == 8 ? From(0x1p63) : From(0x1p31);
    const bool fits = x >= -kBound && x < kBound;
    return static_cast<To>(fits ? static_cast<Through>(x) : std::numeric_limits<Through>::min());
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace groove::kernels::scalar
