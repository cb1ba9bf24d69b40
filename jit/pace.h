// Does a second thread pay? What a barrier costs depends on where the system has put the cores and
// on what else they do, and changes while the program runs. So a stage for which both may be right
// tries them in turn and keeps the faster one: the bits are the same.
#pragma once

#include <atomic>
#include <cstdint>

namespace groove::jit {

class Pace {
 public:
  /// Ticks of any length; tests have one of their own.
  using Clock = std::uint64_t (*)() noexcept;
  static std::uint64_t time_stamps() noexcept;
  explicit Pace(Clock clock = time_stamps) : clock_(clock) {}

  /// A run of the stage, on one thread or on all.
  class Turn {
   public:
    explicit Turn(Pace& pace) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool is_alone() const { return is_alone_; }

   private:
    Pace& pace_;
    std::int32_t left_;
    bool is_alone_;
    std::uint64_t start_ = 0;
  };

 private:
  // A round: many runs of the way that is favoured, of which the last few are timed; one of the
  // other way, which fills the caches; a few that are timed.
  static constexpr std::int32_t kTimed = 3;
  static constexpr std::int32_t kTrial = kTimed + 1;
  static constexpr std::int32_t kFirstRound = 16, kLongestRound = 4096;

  void note(bool is_alone, std::uint64_t ticks) noexcept;
  void decide() noexcept;

  const Clock clock_;
  // Several threads may run the stage: what they do to each other here costs a trial at most.
  std::atomic<std::int32_t> left_{kFirstRound};  // runs of the round
  std::atomic<std::int32_t> round_{kFirstRound};
  std::atomic<bool> favours_alone_{false};
  std::atomic<std::uint64_t> least_[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};  // [is_alone]
};

}  // namespace groove::jit
