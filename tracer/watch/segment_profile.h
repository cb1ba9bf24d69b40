// What the runs of one segment cost and saved: an iteration run eagerly, compiled runs that are
// timed now and then, and every way in which compiled code was left. Any thread may add and read.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "src/core/clock.h"
#include "src/core/dispatch.h"
#include "tracer/calls/reasons.h"

namespace groove::tracer {

// Adds the time of a scope to a total.
class Overhead {
 public:
  explicit Overhead(std::int64_t& total) : total_(total), start_(nanoseconds_now()) {}
  ~Overhead() { total_ += nanoseconds_now() - start_; }
  Overhead(const Overhead&) = delete;
  Overhead& operator=(const Overhead&) = delete;

 private:
  std::int64_t& total_;
  std::int64_t start_;
};

struct Slot;

// What came instead of the expected call; `op` is null when no call came.
struct Came {
  const Op* op = nullptr;
  Site site = Site::none();
  // An input that is of another type than was expected, as long as the call lasts.
  struct Input {
    const Slot* expected = nullptr;
    const TensorImpl* came = nullptr;
  } input = {};
  std::string text() const;  // "add at model.cpp:35"; empty when no call came
  bool operator==(const Came& other) const {
    return op == other.op && (!op || (site.file_name() == other.site.file_name() &&
                                      site.line() == other.site.line()));
  }
};

// One way out: where, why, and what came.
struct Exit {
  std::int32_t call = 0;  // how many had matched
  Reason reason = Reason::kCompleted;
  Came what;
  std::string came;         // the same for people
  // Of an input that was unlike what was expected, the first time: "f32[64, 8], contiguous".
  std::string expected_input = {}, came_input = {};
  std::uint64_t count = 0;  // times
  double lost = 0;          // milliseconds, in all
};

class SegmentProfile {
 public:
  /// Timed runs that say what one takes: the last ones.
  static constexpr int kTimesKept = 8;
  /// Is the run after so many to be timed? The first ones but for the very first, which find
  /// nothing in the caches, then one in 64; and each where they seem to lose, as there may be few
  /// from then on.
  bool wants_time(std::uint64_t hits) const {
    return hits >= next_time_.load(std::memory_order_relaxed) || gain() < 0;
  }

  /// Its runs come at sizes of all kinds, and take times of all kinds: only many of them tell.
  void note_many_sizes() { has_many_sizes_.store(true, std::memory_order_relaxed); }
  /// The iteration as it took while it was recorded, without what recording itself took.
  void note_eager(std::int64_t nanoseconds);
  /// Is an iteration to run eagerly once, to tell whether compiling pays? A few times soon, as the
  /// recording tells little; then rarely, and not where the times leave no doubt.
  bool wants_trial(std::uint64_t hits) {
    return hits >= next_trial_.load(std::memory_order_relaxed) && take_trial(hits);
  }
  /// Such an iteration. True when there were enough of them and compiled runs take longer.
  bool note_trial(std::int64_t nanoseconds);
  /// It stands for all runs since the one that was timed before; `hits`: those before it. Gives
  /// their number.
  std::uint64_t note_compiled(std::int64_t nanoseconds, std::uint64_t hits);
  /// Of `calls` calls `matched` had matched, of which `ran` had run compiled. `again`: what it took
  /// to run eagerly what had matched; `passed`: the time since the thread's exit before this, and
  /// no more than that is lost. Gives what was lost against eager mode, in nanoseconds.
  double note_exit(std::size_t ran, std::size_t matched, std::size_t calls, Reason reason,
                   const Came& came, std::int64_t again, std::int64_t passed);

  /// What so many compiled runs took less than eager ones would have, in milliseconds; below 0 for
  /// what they took more. A trial is compared with the runs that were timed before it, as the
  /// machine may be twice as fast some time later. `of_loop`: how many times as fast the loop's
  /// runs are (0: not known), where this segment had no trial.
  double saved(std::uint64_t hits, double of_loop) const;
  /// How many times as fast as eager ones compiled runs are, as the trials told; 0 before the
  /// first.
  double speedup() const;

  /// Milliseconds of one iteration; 0 when not known. The lower quartile of the last timed, as
  /// whatever disturbs makes it longer; of eager ones what the recording tells as long as there was
  /// no trial.
  double eager() const;
  double compiled() const;
  /// What a compiled run gains, in nanoseconds; 0 before the first trials, where the times are
  /// about the same, and at many sizes as long as those may have made the difference.
  double gain() const { return gain_.load(std::memory_order_relaxed); }
  /// The same, and before the first trial what a run that stands for so many operators may be
  /// expected to gain.
  double gain_of(std::uint64_t operators) const {
    return is_known_.load(std::memory_order_relaxed) ? gain() : expected_gain(operators);
  }
  /// The same of whatever stands for so many operators.
  static double expected_gain(std::uint64_t operators) {
    constexpr double kOfAnOperator = 250;
    return kOfAnOperator * static_cast<double>(operators);
  }
  /// Those that lost most first.
  std::vector<Exit> exits() const;

 private:
  static constexpr std::uint64_t kCold = 3, kFirst = 12, kSeldom = 64;
  static constexpr std::uint64_t kEnoughTrials = 3, kToLetGo = 5;
  static constexpr std::size_t kMostExits = 64;
  using Times = std::array<double, kTimesKept>;  // the last ones, a ring
  bool has_many_sizes() const { return has_many_sizes_.load(std::memory_order_relaxed); }
  static double quartile(const Times& times, std::uint64_t count);
  static double usual(const Times& before, std::uint64_t count, double time);
  static double times_as_long(double eager, double compiled);
  static constexpr std::uint64_t kManySizes = 32;  // times that tell
  // The last times at sizes of all kinds, without the longest quarter: whatever disturbs makes a
  // time longer, and what a size needs is made when it comes first.
  class Spread {
   public:
    void add(double time) { times_[count_++ % times_.size()] = time; }
    std::uint64_t count() const { return std::min<std::uint64_t>(count_, times_.size()); }
    struct Mean {
      double mean, error;  // standard
    };
    Mean mean() const;

   private:
    std::array<double, kManySizes> times_{};
    std::uint64_t count_ = 0;
  };
  // What a run gains, and how far from that it may be by chance.
  struct Gain {
    double gain, doubt, eager;
  };
  Gain gain_at_many_sizes() const;
  double quartile() const { return quartile(compiled_, timed_); }
  double tried_speedup() const;
  void find_gain();
  bool take_trial(std::uint64_t hits);
  Exit& exit_at(std::int32_t call, Reason reason, const Came& came);

  double recorded_ = 0, eager_ = 0;
  Times compiled_{}, trials_{};
  Times speedups_{};  // of each trial against the compiled runs before it
  std::uint64_t timed_ = 0, tried_ = 0;
  Spread timed_sizes_, tried_sizes_;
  // Of compiled runs: what those before the last trial saved, what those since took, what all did,
  // and how many runs that is; and what all trials took.
  double saved_before_ = 0, taken_since_ = 0, taken_ = 0, taken_by_trials_ = 0;
  std::uint64_t runs_told_ = 0;
  std::atomic<std::uint64_t> next_time_{kCold};
  std::atomic<float> gain_{0};
  std::atomic<bool> is_known_{false}, has_many_sizes_{false};
  std::atomic<std::uint64_t> next_trial_{4};  // after so many runs
  std::vector<Exit> exits_;
};

}  // namespace groove::tracer
