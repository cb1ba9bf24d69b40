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
    trial_->before = discovery_.total();
    trial_->start = thread_time();
    return true;
  }
  if (!told->profile.wants_trial(told->statistics.hits) || is_compilation_synchronous() ||
      is_strict() || !frames_.empty())
    return false;
  trial_ = Trial{told, replay_of(segment).whole(), discovery_.total()};
  return true;
}

void Context::follow_trial() {
  constexpr std::uint64_t kLongestWait = 1 << 14;  // calls
  Trial& trial = *trial_;
  const Stretch calls = discovery_.total().since(trial.before);
  if (calls.length < (trial.is_waiting ? kLongestWait : trial.whole.length)) return;
  if (trial.is_waiting || !(calls == trial.whole)) return trial_.reset();
  if (!trial.is_warm) {
    trial.is_warm = trial.is_waiting = true;
    trial.before = discovery_.total();
    return;
  }
  const std::int64_t taken = thread_time() - trial.start;
  const SegmentPtr segment = std::exchange(trial_, std::nullopt)->segment;
  if (segment->profile.note_trial(taken)) let_go(segment);
}

}  // namespace groove::tracer
