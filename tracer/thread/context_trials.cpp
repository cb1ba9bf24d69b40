// Does compiling pay? Now and then some iterations for which there is a segment run eagerly, until
// the path came that is tried, and not as the first of them: its time tells. What does not pay is
// let go.
#include <algorithm>
#include <utility>

#include "tracer/cache/registry.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {

// With synchronous compilation nothing depends on the clock.
void Context::want_trial(const Replay& replay) {
  const SegmentPtr& told = replay.told_segment();
  if (!trial_ && told->profile.wants_trial(told->statistics.hits) && !is_compilation_synchronous())
    wanted_trial_ = Trial{told, replay.whole()};
}

// The segment could begin now: does an eager iteration run instead? Which path it takes is not
// known yet: a trial goes on until the one comes that it is for.
bool Context::begin_trial(const SegmentPtr& segment) {
  if (trial_) {
    if (!trial_->is_waiting) return true;
    if (trial_->wanted->head != segment->head) return false;
    trial_->is_waiting = false;
  } else {
    if (!wanted_trial_ || wanted_trial_->wanted->head != segment->head) return false;
    std::optional<Trial> wanted = std::exchange(wanted_trial_, std::nullopt);
    if (is_compilation_synchronous() || is_strict() || !frames_.empty()) return false;
    trial_ = std::move(wanted);
  }
  discovery_.on_run_start();
  trial_->start = thread_time();
  return true;
}

bool Context::follow_trial(std::uint64_t hash) {
  constexpr std::uint64_t kLongestWait = 1 << 14;  // calls
  Trial& trial = *trial_;
  if (trial.is_waiting) {
    if (discovery_.total().length >= trial.waits_from + kLongestWait) trial_.reset();
    return false;
  }
  if (trial.calls.length == 0) trial.head = hash;
  trial.last = hash;
  trial.calls.append(hash);
  if (trial.calls.length < trial.whole.length) return true;
  // Without what eager mode does not do: the calls are watched.
  const std::int64_t watching =
      Investment::kToWatch * static_cast<std::int64_t>(trial.calls.length);
  const std::int64_t taken =
      std::max<std::int64_t>(0, thread_time() - trial.start - thread_time_cost() - watching);
  const bool is_wanted = trial.calls == trial.whole;
  discovery_.on_run(trial.head, trial.last, std::exchange(trial.calls, {}), is_wanted);
  // The first iteration brings what eager mode needs into the caches.
  constexpr int kCold = 1, kMost = 8;
  const bool is_cold = trial.count++ < kCold;
  const SegmentPtr segment = trial.wanted;
  if (is_cold || (!is_wanted && trial.count < kMost)) {
    trial.is_waiting = true;
    trial.waits_from = discovery_.total().length;
  } else {
    trial_.reset();
  }
  if (is_cold || !is_wanted) return true;
  const bool is_slower = segment->profile.note_trial(taken);
  segment->loop->speedup.store(static_cast<float>(segment->profile.speedup()),
                               std::memory_order_relaxed);
  if (is_slower) let_go(segment);
  return true;
}

void Context::end_trial() {
  const Trial trial = *std::exchange(trial_, std::nullopt);
  if (trial.calls.length > 0) discovery_.on_run(trial.head, trial.last, trial.calls, false);
}

void Context::note_step_end() {
  if (is_trial_running()) end_trial();
  discovery_.on_step_end();
}

}  // namespace groove::tracer
