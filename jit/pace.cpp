#include "jit/pace.h"

#include <x86intrin.h>

#include <algorithm>

namespace groove::jit {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

std::uint64_t Pace::time_stamps() noexcept { return __rdtsc(); }

Pace::Turn::Turn(Pace& pace) noexcept : pace_(pace), left_(pace.left_.load(relaxed)) {
  pace.left_.store(left_ - 1, relaxed);
  is_alone_ = pace.favours_alone_.load(relaxed) != (left_ <= kTrial);
  if (left_ <= kTimed || (left_ > kTrial && left_ <= kTrial + kTimed)) start_ = pace.clock_();
}

Pace::Turn::~Turn() {
  if (start_ == 0) return;
  pace_.note(is_alone_, pace_.clock_() - start_);
  if (left_ <= 1) pace_.decide();
}

void Pace::note(bool is_alone, std::uint64_t ticks) noexcept {
  std::atomic<std::uint64_t>& least = least_[is_alone];
  least.store(std::min(least.load(relaxed), ticks), relaxed);
}

// Rounds grow longer while the favoured way stays ahead. It goes only for one that is clearly
// better, as two times of the same work differ by some percents.
void Pace::decide() noexcept {
  const bool favours_alone = favours_alone_.load(relaxed);
  const std::uint64_t own = least_[favours_alone].exchange(~std::uint64_t{0}, relaxed);
  const std::uint64_t other = least_[!favours_alone].exchange(~std::uint64_t{0}, relaxed);
  const bool changes = other < own - own / 16;
  const std::int32_t round =
      changes ? kFirstRound : std::min(2 * round_.load(relaxed), kLongestRound);
  favours_alone_.store(favours_alone != changes, relaxed);
  round_.store(round, relaxed);
  left_.store(round, relaxed);
}

}  // namespace groove::jit
