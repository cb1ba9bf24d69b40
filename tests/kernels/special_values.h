// Values on which implementations of a primitive differ when one of them is wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace groove::kernels::testing {

template <typename T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T tie = T{1} / Limits::epsilon();  // 2^23 or 2^52: the last with halves below it
    std::vector<T> values = {T(0.0),
                             T(0.25),
                             T(0.5),
                             T(0.75),
                             T(1.0),
                             T(1.5),
                             T(2.0),
                             T(2.5),
                             T(3.0),
                             T(127.5),
                             T(128.0),
                             T(255.0),
                             T(256.0),
                             T(32768.0),
                             T(0x1p31),
                             T(0x1p31 - 1),
                             T(0x1p31 + 1),
                             T(0x1p32),
                             T(0x1p63),
                             T(0x1p63) * (1 - Limits::epsilon()),
                             tie,
                             tie - T(0.5),
                             tie + 1,
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::min() / 2,
                             Limits::max(),
                             Limits::infinity(),
                             T(1) + Limits::epsilon(),
                             T(1) / 3,
                             T(1e-5),
                             T(1e10)};
    for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
    values.push_back(Limits::quiet_NaN());
    return values;
  } else if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else {
    std::vector<T> values = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 85, 100, 127};
    for (std::size_t i = values.size(); i-- > 0;) {
      values.push_back(static_cast<T>(-static_cast<std::int64_t>(values[i])));
    }
    for (int i = 0; i < 4; ++i) {
      values.push_back(static_cast<T>(Limits::max() - i));
      values.push_back(static_cast<T>(Limits::lowest() + i));
    }
    values.push_back(static_cast<T>(0x123456789abcdef0));
    values.push_back(static_cast<T>(0xfedcba9876543211));
    return values;
  }
}

}  // namespace groove::kernels::testing
