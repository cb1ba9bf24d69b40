// Numbers that depend on a seed alone, the same on every machine.
#pragma once

#include <cstdint>

namespace groove::random_loops {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(scramble(seed * 0xD1B54A32D192ED03u + 77)) {}
  int below(int bound) {
    state_ += 0x9E3779B97F4A7C15u;
    return static_cast<int>(scramble(state_) >> 33) % bound;
  }
  bool one_in(int bound) { return below(bound) == 0; }
  bool percent(int chance) { return below(100) < chance; }
  /// In [0, 1).
  double part() { return below(1 << 20) / static_cast<double>(1 << 20); }

 private:
  static std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

}  // namespace groove::random_loops
