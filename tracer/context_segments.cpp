// A context's segments: starting, finishing and abandoning a recording; starting, committing and
// leaving a replay.
#include <iterator>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "tracer/context.h"
#include "tracer/modes.h"
#include "tracer/registry.h"
#include "tracer/report.h"

namespace groove::tracer {
namespace {

constexpr int kLeavesBeforeRetirement = 3;
// A loop that ran this often goes on long enough for tier 2 to pay.
constexpr std::uint64_t kRunsBeforePromotion = 16;

}  // namespace

// ---- recording ----

void Context::start_recording(const Discovery::Plan& plan) {
  recorded_plan_ = plan;
  recorded_hash_ = 0;
  // Strict mode cannot be left, so nothing is taken for a constant there.
  const Recorder::Moving all{.are_all = true};
  recorder_ = std::make_unique<Recorder>(plan.head, next_session(),
                                         is_strict() ? all : moving(plan.head));
  discovery_.drop_plan(recorded_plan_->head);
  move_to(State::kRecording);
}

void Context::abandon_recording() {
  const Reason reason = recorder_->failure().value_or(Reason::kException);
  count_failure(recorder_->place(), reason);
  if (environment().logs("guards"))
    fmt::print(stderr, "groove: loop at {} not compiled: {}\n", recorder_->place(), text(reason));
  discovery_.penalize(recorded_plan_->head);
  discovery_.on_segment(recorded_plan_->kind);
  recorder_.reset();
  move_to(State::kWatching);
}

void Context::finish_recording() {
  if (recorder_->words() != recorded_plan_->length) {
    // Not the iteration that was expected; it may have been the odd one out.
    discovery_.on_segment(recorded_plan_->kind);
    recorder_.reset();
    move_to(State::kWatching);
    return;
  }
  SegmentPtr segment = recorder_->finish(widened(recorded_plan_->head));
  if (!segment) {
    abandon_recording();
    return;
  }
  kinds_[segment.get()] = recorded_plan_->kind;
  discovery_.on_segment(recorded_plan_->kind);
  recorder_.reset();
  move_to(State::kWatching);
  submit(std::move(segment), is_compilation_synchronous());
  // Segments that were given up, or whose model is gone.
  for (auto it = replays_.begin(); it != replays_.end();) {
    const bool is_over = it->second && it->second->segment().state.load() == State::kRetired;
    if (is_over) kinds_.erase(it->first);
    it = is_over ? replays_.erase(it) : std::next(it);
  }
}

// ---- replay ----

template <typename Word>
bool Context::start_replay(std::uint64_t hash, const Word& word, const SiteKey& site,
                           Tensor* outputs) {
  for (const SegmentPtr& segment : armed_segments(hash)) {
    std::unique_ptr<Replay>& replay = replays_[segment.get()];
    if (!replay) replay = std::make_unique<Replay>(segment, next_session());
    replay_ = replay.get();
    Reason why = Reason::kForced;
    if (!is_forced_out() && try_match(word, site, outputs, why)) {
      discovery_.clear_stream();
      move_to(State::kReplaying);
      return true;
    }
    if (why == Reason::kMoved) {
      add_moving(hash, 0);
      retire(segment);
    }
    replay_->reset();
    replay_ = nullptr;
  }
  return false;
}

template bool Context::start_replay(std::uint64_t, const Call&, const SiteKey&, Tensor*);
template bool Context::start_replay(std::uint64_t, const BigWord&, const SiteKey&, Tensor*);

bool Context::is_forced_out() const {
  return static_cast<std::int64_t>(replay_->matched()) == forced_exit();
}

// All words have matched. With skip_last, the caller runs the last word's expansion on failure.
bool Context::commit_complete(std::size_t skip_last) {
  Reason why = Reason::kCompleted;
  const Busy busy(busy_);
  const std::int64_t every = environment().check;
  const bool is_checked = every > 0 && ++commits_ % every == 0;
  if (is_checked) replay_->save_before_commit();
  const TraceSpan span("replay", replay_->segment().id);
  if (replay_->commit(why)) {
    if (is_checked) {
      const std::string difference = replay_->compare_with_eager();
      const std::string place = replay_->segment().place;
      end_replay(true, why);
      GROOVE_CHECK(difference.empty(),
                   "GROOVE_CHECK: the compiled loop at {} does not give the "
                   "bits of eager mode: {}; this is a defect of Groove, please report it",
                   place, difference);
      return true;
    }
    end_replay(true, why);
    return true;
  }
  if (why == Reason::kEscape) add_widened(replay_->segment().head, replay_->escaped());
  leave(why, skip_last);
  return false;
}

void Context::leave(Reason reason, std::size_t skip_last) {
  if (reason == Reason::kMoved) add_moving(replay_->segment().head, replay_->matched());
  if (environment().logs("guards"))
    fmt::print(stderr, "groove: left segment {} ({}) at word {} of {}: {}\n", replay_->segment().id,
               replay_->segment().place, replay_->matched(), replay_->segment().words.size(),
               text(reason));
  {
    const Busy busy(busy_);
    const TraceSpan span(text(reason), replay_->segment().id);
    replay_->run_eagerly(skip_last);
  }
  end_replay(false, reason);
  if (is_strict() && reason != Reason::kCompleted) strict_reason_ = reason;
}

void Context::end_run(Reason reason) {
  if (replay_->is_complete())
    commit_complete(0);
  else
    leave(reason, 0);
}

void Context::end_replay(bool is_hit, Reason reason) {
  Replay* const replay = replay_;
  replay_ = nullptr;
  replay->reset();
  move_to(State::kWatching);
  Segment& segment = replay->segment();
  const auto kind = kinds_.find(&segment);
  const Discovery::Kind found = kind == kinds_.end() ? Discovery::Kind::kStep : kind->second;
  if (is_hit) {
    if (++segment.statistics.hits == kRunsBeforePromotion)
      promote(replay->segment_pointer(), is_compilation_synchronous());
    segment.consecutive_leaves = 0;
    discovery_.on_segment(found);
    return;
  }
  ++segment.statistics.leaves;
  ++segment.statistics.left_at_reason[static_cast<int>(reason)];
  if (reason == Reason::kForced || reason == Reason::kModeChange) return;
  const bool is_wrong = reason == Reason::kEscape || reason == Reason::kMoved ||
                        reason == Reason::kProgramFailed;
  if (++segment.consecutive_leaves < kLeavesBeforeRetirement && !is_wrong) return;
  for (const SegmentPtr& known : armed_segments(segment.head))
    if (known.get() == &segment) {
      if (!is_wrong) discovery_.penalize(segment.head);
      retire(known);
    }
}

void Context::throw_if_strict() {
  if (!strict_reason_) return;
  const Reason reason = *strict_reason_;
  strict_reason_.reset();
  throw_error(fmt::format("strict mode: compiled code was left: {}{}{}", text(reason),
                          *advice(reason) ? "; " : "", advice(reason)));
}

}  // namespace groove::tracer
