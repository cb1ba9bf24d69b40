// Does compiling pay? Now and then an iteration for which there is a segment runs eagerly, and the
// times tell. What does not pay is let go.
#include "tracer/context.h"
#include "tracer/modes.h"
#include "tracer/registry.h"

namespace groove::tracer {

// With synchronous compilation nothing depends on the clock.
bool Context::begin_trial(const SegmentPtr& segment) {
  if (!segment->ledger.wants_trial(segment->statistics.hits) || is_compilation_synchronous() ||
      is_strict() || !frames_.empty())
    return false;
  trial_ = Trial{segment, discovery_.total(), thread_time()};
  return true;
}

void Context::follow_trial() {
  const Stretch words = discovery_.total().since(trial_->before);
  const Stretch whole = replay_of(trial_->segment).whole();
  if (words.length < whole.length) return;
  const Trial trial = *std::exchange(trial_, std::nullopt);
  if (words == whole && trial.segment->ledger.note_trial(thread_time() - trial.start))
    let_go(trial.segment);
}

}  // namespace groove::tracer
