// A stretch of calls as numbers that compose: the stretch AB has one value, whether its calls came
// one by one or some of them as a whole that was replayed.
#pragma once

#include <array>
#include <cstdint>

namespace groove::tracer {

namespace rolling {

inline constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15u;  // odd, so that powers never vanish

// kBase^(i << shift) for every byte i.
constexpr std::array<std::uint64_t, 256> powers(int shift) {
  std::uint64_t step = kBase;
  for (int i = 0; i < shift; ++i) step *= step;
  std::array<std::uint64_t, 256> result{};
  std::uint64_t value = 1;
  for (std::uint64_t& power : result) {
    power = value;
    value *= step;
  }
  return result;
}
inline constexpr auto kLow = powers(0), kMiddle = powers(8), kHigh = powers(16);

constexpr std::uint64_t power(std::uint64_t n) {
  std::uint64_t result = kLow[n & 255] * kMiddle[n >> 8 & 255] * kHigh[n >> 16 & 255];
  for (n >>= 24; n > 0; --n) result *= kHigh[255] * kHigh[1];
  return result;
}

}  // namespace rolling

struct Stretch {
  std::uint64_t order = 0;    // polynomial in the calls, depends on their order
  std::uint64_t content = 0;  // sum of the calls: the same for every rotation of a loop
  std::uint64_t length = 0;   // in calls

  constexpr void append(std::uint64_t call) {
    order = order * rolling::kBase + call;
    content += call * call;
    ++length;
  }
  constexpr void append(const Stretch& next) {
    order = order * rolling::power(next.length) + next.order;
    content += next.content;
    length += next.length;
  }
  /// What came after `prefix`.
  constexpr Stretch since(const Stretch& prefix) const {
    const std::uint64_t calls = length - prefix.length;
    return {order - prefix.order * rolling::power(calls), content - prefix.content, calls};
  }
  /// Names the loop of which this is one iteration, wherever the iteration is taken to begin.
  constexpr std::uint64_t loop() const { return (content ^ length) * rolling::kBase; }
  bool operator==(const Stretch&) const = default;
};

}  // namespace groove::tracer
