// The last stretches of one sort, steps or those between two reads: is each of them another one?
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace groove::tracer {

class LastStretches {
 public:
  /// One is over: its Stretch::loop().
  void add(std::uint64_t loop) {
    const bool is_known = std::find(last_.begin(), last_.end(), loop) != last_.end();
    unlike_ = unlike_ << 1 | (is_known ? 0 : 1);
    last_[count_++ % last_.size()] = loop;
  }
  /// How many there were so far.
  std::uint32_t count() const { return count_; }
  /// Of the last 32, how many were like none of those before them?
  int unlike() const { return std::popcount(unlike_); }

 private:
  std::array<std::uint64_t, 32> last_{};
  std::uint32_t count_ = 0, unlike_ = 0;
};

}  // namespace groove::tracer
