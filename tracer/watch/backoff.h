// Runs of compiled code that may lose time: what they gain and lose against eager mode tells
// whether more of them are worth it. Any thread may add and ask.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/watch/segment_profile.h"

namespace groove::tracer {

inline constexpr int kMostDoublings = 12;

/// How often something must come before it is recorded (again), or tried: so many times, and twice
/// as often for each time that was in vain.
inline std::uint64_t times_needed(int times, int in_vain) {
  return static_cast<std::uint64_t>(times) << std::clamp(in_vain, 0, kMostDoublings);
}

// A run after a pause finds nothing in the caches and takes long, whatever it took otherwise. So
// some run in a row then, and what those before the last lose says nothing; one that is left ends
// them.
class Backoff {
 public:
  /// One more run: nanoseconds that it took less than eager mode, below 0 when it took more, and
  /// what `whole` of them takes eagerly. The less of that is lost, the shorter is a pause.
  void note(bool is_hit, double gained, double whole);
  /// May another one begin? Counts the times that it may not.
  bool is_willing();
  /// Does the time of the next run say nothing?
  bool is_cold() const { return probe_.load(std::memory_order_relaxed) == kProbe; }
  /// What ran before says nothing any more.
  void forget();

 private:
  static constexpr int kProbe = 1 + SegmentProfile::kTimesKept;  // runs

  std::atomic<float> gain_{0};  // of a run, of late
  std::atomic<int> losses_{0};  // runs that lost while the last ones lost in all; gains halve it
  std::atomic<int> probe_{0};   // runs after a pause that are yet to come
  std::atomic<std::uint64_t> skip_{0};  // times that no run begins
};

// How the runs of a loop end, whichever of its segments they follow.
struct LoopRecord {
  std::atomic<float> success{1};  // of late: 1 when none is left
  // How many times as fast as eagerly the runs of a segment are, as trials told last; 0 before.
  std::atomic<float> speedup{0};
  Backoff backoff;

  /// See Backoff.
  void note(bool is_hit, double gained, double whole);
  /// The run was left, and what came instead has a segment from now on.
  void note_recorded();
  /// Another loop that begins alike was chosen: what this one did is forgiven slowly.
  void forgive();
  /// There is code now for what runs were left for want of.
  void begin_afresh();
  /// What a call of such a run saves, 1 when it costs nothing at all. `calls` a run; its results
  /// may go on the tape.
  double promise(std::size_t calls, bool keeps_history) const;
  /// About what a run of so many calls gains, in calls, where it is not measured.
  static double expected_gain(bool is_hit, std::size_t calls);
};

}  // namespace groove::tracer
