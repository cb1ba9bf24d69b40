// Does compiling pay? Now and then two iterations for which there is a segment run eagerly, and the
// times tell. What does not pay is let go.
#include "tracer/cache/registry.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"

namespace groove::tracer {

// The segment could begin now: does an eager iteration run instead? With synchronous compilation
// nothing depends on the clock.
bool Context::begin_trial(const SegmentPtr& segment) {
  const SegmentPtr& told = segment->original ? segment->original : segment;
  if (trial_) {
    if (!trial_->is_waiting) return true;
    if (trial_->segment != told) return false;
    trial_->is_waiting = false;
  } else {
    if (!told->profile.wants_trial(told->statistics.hits) || is_compilation_synchronous() ||
        is_strict() || !frames_.empty())
      return false;
    trial_ = Trial{told, replay_of(segment).whole()};
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
  if (!(trial.calls == trial.whole)) {
    end_trial();
    return true;
  }
  const std::int64_t taken = thread_time() - trial.start;
  discovery_.on_run(trial.head, trial.last, std::exchange(trial.calls, {}), true);
  if (!std::exchange(trial.is_warm, true)) {
    trial.is_waiting = true;
    trial.waits_from = discovery_.total().length;
    return true;
  }
  const SegmentPtr segment = std::exchange(trial_, std::nullopt)->segment;
  if (segment->profile.note_trial(taken)) let_go(segment);
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
