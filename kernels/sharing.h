// Does sharing work out pay? On a machine whose cores are busy with something else, the system
// takes a thread's core away in the middle of its part, and all others wait for a time slice.
// Regions tell what they took and what their parts did, which one thread would have taken; where
// that is less, the next ones run on one, for ever longer times as long as trials go on to lose.
// The bits are the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace groove::kernels {

class Sharing {
 public:
  // Ticks of the time-stamp counter, some of which make a nanosecond.
  struct Region {
    std::uint64_t parts;  // one after the other, without what their cores were taken away for
    std::uint64_t all;    // until the last was done
  };

  /// Is what comes now to run on one thread? Any thread may ask.
  bool is_paused(std::uint64_t now) const { return now < until_.load(std::memory_order_relaxed); }

  /// A region is over, told by one thread at a time.
  void note(std::uint64_t now, const Region& region) {
    credit_ += static_cast<std::int64_t>(region.parts) - static_cast<std::int64_t>(region.all);
    if (credit_ >= kCredit) {
      credit_ = kCredit;
      pause_ = kFirstPause;
    } else if (credit_ < -kLoss) {
      credit_ = 0;
      until_.store(now + pause_, std::memory_order_relaxed);
      pause_ = std::min(2 * pause_, kLongestPause);
    }
  }

 private:
  // About 10 ms of gain, after which a slice lost now and then is nothing; what may be lost before
  // a pause; pauses of about 10 ms to 2 s.
  static constexpr std::int64_t kCredit = 30'000'000, kLoss = 300'000;
  static constexpr std::uint64_t kFirstPause = 30'000'000, kLongestPause = 200 * kFirstPause;

  std::int64_t credit_ = 0;
  std::uint64_t pause_ = kFirstPause;
  std::atomic<std::uint64_t> until_{0};
};

}  // namespace groove::kernels
