// Does compiling pay? Now and then two iterations for which there is a segment run eagerly, and the
// time of the second tells. What does not pay is let go.
#include <algorithm>
#include <utility>

#include "tracer/cache/registry.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"

namespace groove::tracer {

// The segment could begin now: does an eager iteration run instead? It may turn out to be another
// path from the same call, which is tried then. With synchronous compilation nothing depends on the
// clock.
bool Context::begin_trial(const SegmentPtr& segment) {
  if (trial_) {
    if (!trial_->is_waiting) return true;
    if (trial_->from != segment->head) return false;
    trial_->is_waiting = false;
  } else {
    const SegmentPtr& told = replay_of(segment).told_segment();
    if (!told->profile.wants_trial(told->statistics.hits) || is_compilation_synchronous() ||
        is_strict() || !frames_.empty())
      return false;
    trial_ = Trial{segment->head};
    for (const auto& [path, replay] : replays_)
      if (path->head == segment->head)
        trial_->paths.push_back({replay->told_segment(), replay->whole()});
  }
  discovery_.on_run_start();
  trial_->start = thread_time();
  return true;
}

const Context::Trial::Path* Context::Trial::path() const {
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [this](const Path& path) { return path.whole == calls; });
  return found == paths.end() ? nullptr : &*found;
}

bool Context::Trial::is_astray() const {
  return std::none_of(paths.begin(), paths.end(),
                      [this](const Path& path) { return path.whole.length > calls.length; });
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
  const Trial::Path* const path = trial.path();
  if (!path) {
    if (trial.is_astray()) end_trial();
    return true;
  }
  // Without what eager mode does not do: the calls are watched.
  constexpr std::int64_t kWatched = 15;  // nanoseconds a call
  const std::int64_t taken =
      std::max<std::int64_t>(0, thread_time() - trial.start - thread_time_cost() -
                                    kWatched * static_cast<std::int64_t>(trial.calls.length));
  discovery_.on_run(trial.head, trial.last, std::exchange(trial.calls, {}), true);
  constexpr int kCold = 1;
  if (trial.count++ < kCold) {
    trial.is_waiting = true;
    trial.waits_from = discovery_.total().length;
    return true;
  }
  const SegmentPtr segment = path->segment;
  trial_.reset();
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
