// A context's segments: starting, finishing and abandoning a recording; starting, committing and
// leaving a replay.
#include <algorithm>
#include <iterator>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/trace.h"
#include "tracer/cache/paths.h"
#include "tracer/cache/promotion.h"
#include "tracer/cache/registry.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/report.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
// ---- recording ----

void Context::start_recording(const Discovery::Plan& plan) {
  recorded_plan_ = plan;
  recorded_stop_ = 0;
  is_sample_ = false;
  samples_left_ = kMostSamplesInARow;
  was_given_other_sizes_ = false;
  any_sizes_before_ = discovery_.any_sizes();
  given_by_value_before_ = given().by_value;
  recorded_ = {};
  recorded_cost_ = 0;
  // Strict mode cannot be left, so nothing is taken for a constant there.
  const Recorder::Moving all{.are_all = true};
  recorder_ = std::make_unique<Recorder>(plan.head, next_session(SessionOf::kRecording),
                                         is_strict() ? all : moving(plan.head), widened(plan.head));
  recorder_->set_before(plan.before);
  times_before_.clear();
  moved_calls_.clear();
  release_gone();
  if (plan.kind != Discovery::Kind::kCall) {
    recorder_->expect(plan.length);
    times_before_ = discovery_.last_times(plan);
    moved_calls_ = discovery_.moved_calls(times_before_, plan.length);
    was_given_other_sizes_ = discovery_.was_given_other_sizes(plan, times_before_);
    discovery_.take_plan(*recorded_plan_);
  }
  if (environment().logs("segments"))
    fmt::print(stderr, "groove: {} of {} calls came again{}\n", name_of(recorded_plan_->kind),
               recorded_plan_->length, recorded_plan_->covers_runs ? ", compiled runs inside" : "");
  move_to(State::kRecording);
}

void Context::note_recorded(std::uint64_t hash, Discovery::Cost cost, std::uint32_t position) {
  recorded_.append(hash);
  discovery_.on_call(hash, cost, position);
}

void Context::stop_recording() {
  if (!is_compilation_synchronous()) investment().spend_here(recorder_->overhead());
  recorder_.reset();
  move_to(State::kWatching);
}

bool Context::give_up_side() {
  if (!side_of_) return false;
  side_exits_.give_up(side_exit_);
  side_of_.reset();
  return true;
}

void Context::abandon_recording() {
  const Reason reason = recorder_->failure().value_or(Reason::kException);
  const bool has_learned = recorder_->has_learned();
  is_sample_ = false;
  if (!has_learned) note_not_compiled(recorded_plan_->head, reason);
  if (environment().logs("guards"))
    fmt::print(stderr, "groove: loop at {} not compiled: {}\n", recorder_->source(), text(reason));
  if (!give_up_side() && !has_learned) discovery_.penalize(recorded_plan_->head);
  stop_recording();
}

void Context::finish_recording(bool is_cut) {
  const std::int64_t start = nanoseconds_now();
  close_recording(is_cut);
  if (!is_compilation_synchronous()) investment().spend_here(nanoseconds_now() - start);
}

// Is the loop to be recorded from another of its calls on?
bool Context::begins_elsewhere() {
  if (recorded_plan_->kind != Discovery::Kind::kCycle) return false;
  const std::size_t first = recorder_->best_beginning();
  if (first == 0) return false;
  const Stretch calls = recorder_->calls_from(first);
  if (!discovery_.turn(*recorded_plan_, recorder_->hash_of(first - 1), recorder_->hash_of(first),
                       calls))
    return false;
  if (environment().logs("segments"))
    fmt::print(stderr, "groove: {} calls of {} better begin at call {}\n", calls.length,
               recorder_->source(), first);
  return true;
}

void Context::close_recording(bool is_cut) {
  if (!is_cut && !side_of_ && !discovery_.accepts(*recorded_plan_, recorded_)) {
    // Not the iteration that was expected; it may have been the odd one out.
    if (environment().logs("segments"))
      fmt::print(stderr, "groove: {} calls of {} were expected, {} others came\n",
                 recorded_plan_->length, recorder_->source(), recorded_.length);
    stop_recording();
    return;
  }
  if (is_cut && !side_of_) discovery_.note_cut(*recorded_plan_);
  // What it takes to run one small operator is less than what it takes to begin a run.
  if (is_cut && recorded_plan_->kind != Discovery::Kind::kCall &&
      recorded_cost_ <= Discovery::kOpCost) {
    if (environment().logs("segments"))
      fmt::print(stderr, "groove: {} calls of {} are too little to begin a run for\n",
                 recorder_->calls(), recorder_->source());
    give_up_side();
    is_sample_ = false;
    stop_recording();
    return;
  }
  if (!is_cut && !side_of_ && !is_sample_ && begins_elsewhere()) return stop_recording();
  SegmentPtr segment = recorder_->finish();
  if (!segment) {
    abandon_recording();
    return;
  }
  // What must come before a head tells apart the places that it has in what was expected.
  const bool is_rest = side_of_ && side_of_->head != segment->head;
  if (!is_rest && segment->has_single_head()) segment->before = 0;
  segment->kind = recorded_plan_->kind;
  segment->covers_runs = recorded_plan_->covers_runs;
  segment->expected = std::min(recorded_plan_->length, segment->calls.size());
  if (side_of_) {
    segment->expected = recorded_plan_->length;
    segment->loop = side_of_->loop;
  }
  if (!keep_recorded(std::move(segment), is_cut ? ", cut short" : ""))
    discovery_.penalize(recorded_plan_->head);
}

// A recording that has ended well is compiled, or first waits for what it is at other sizes. False
// if it cannot be compiled.
bool Context::keep_recorded(SegmentPtr segment, const char* how) {
  if (environment().logs("segments"))
    fmt::print(stderr, "groove: recorded {} calls of {}{}{}\n", segment->calls.size(),
               segment->source, how, is_sample_ ? ", for their sizes" : "");
  note_made(segment);
  const bool is_for_sizes =
      !is_compilation_synchronous() && samples_left_ >= 0 && (is_sample_ || has_endless_sizes());
  side_of_.reset();
  stop_recording();
  // What was just recorded is as good a sample as the one that was waited for.
  if (const auto wanted = again_.find(segment->head);
      wanted != again_.end() && wanted->second.is_sample)
    again_.erase(wanted);
  bool is_kept = true;
  if (is_for_sizes ? keep_first_sample(segment) : keep_sample(segment)) {
    segment->recorded_by = index_;
    segment->recorded_at = discovery_.total().length;
    is_kept = submit(std::move(segment), is_compilation_synchronous());
  }
  drop_retired();
  return is_kept;
}

// ---- does it pay? ----

void Context::note_time(Segment& segment, std::int64_t nanoseconds) {
  SegmentProfile& profile = segment.profile;
  const std::uint64_t runs = profile.note_compiled(nanoseconds, segment.statistics.hits);
  investment().save(static_cast<double>(runs) * profile.gain());
}

// With synchronous compilation nothing depends on the clock.
void Context::note_gain(const SegmentPtr& segment, bool is_hit, std::size_t calls, double gained) {
  double whole = 0;
  if (is_compilation_synchronous()) {
    gained = LoopRecord::expected_gain(is_hit, calls);
    whole = static_cast<double>(segment->calls.size());
  } else {
    if (!is_hit) investment().save(gained);
    if (gained < 0) whole = segment->profile.eager() * 1e6;
  }
  segment->loop->note(is_hit, gained, whole);
  segment->backoff.note(is_hit, gained, whole);
}

// ---- replay ----

void Context::look_up(Beginning& known, std::uint64_t head, std::uint64_t key) {
  if (known.head != head) known.resized = 0;
  known.head = head;
  known.key = key;
  known.changes = path_changes.load(std::memory_order_acquire);
  known.segments = armed_starting(head, key);
  known.are_one_loop =
      !known.segments.empty() &&
      std::all_of(known.segments.begin(), known.segments.end(), [&](const SegmentPtr& segment) {
        return segment->loop == known.segments.front()->loop;
      });
  known.first = nullptr;
}

template <typename AnyCall>
bool Context::begin_run(Replay& replay, const AnyCall& call, const SiteKey& site, Tensor* outputs,
                        Reason& why) {
  replay_ = &replay;
  const Segment& told = *replay.told_segment();
  const bool is_cold = told.backoff.is_cold() || told.loop->backoff.is_cold();
  const bool is_timed = !is_cold && (told.profile.wants_time(told.statistics.hits) ||
                                     (wanted_time_ && wanted_time_->head == told.head));
  const std::int64_t start = is_timed ? thread_time() : -1;
  const auto end = [this] {
    replay_->reset();
    replay_ = nullptr;
    close_run();
  };
  bool has_begun = false;
  try {
    has_begun = !is_forced_out() && try_match(call, site, outputs, why);
  } catch (...) {  // the call's own error, before there is a run
    end();
    throw;
  }
  if (has_begun) {
    started_ = start;
    sequence_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
    tape_ = tape_hooks().tape ? tape_hooks().tape() : 0;
    began_after_ = discovery_.last();
    discovery_.on_run_start();
    rest_.reset();
    move_to(State::kReplaying);
    if (replay_->must_commit_now() && !ends_step_now(call)) commit_complete(0);
    return true;
  }
  end();
  return false;
}

template <typename AnyCall>
bool Context::begin_run(const SegmentPtr& segment, const AnyCall& call, const SiteKey& site,
                        Tensor* outputs, Reason& why) {
  return begin_run(replay_of(segment), call, site, outputs, why);
}

template bool Context::begin_run(const SegmentPtr&, const Call&, const SiteKey&, Tensor*, Reason&);
template bool Context::begin_run(const SegmentPtr&, const LibraryCall&, const SiteKey&, Tensor*,
                                 Reason&);

template <typename AnyCall>
bool Context::start_replay(std::uint64_t hash, const AnyCall& call, const SiteKey& site,
                           Tensor* outputs) {
  const Lock lock(*this);
  const LoopRecord* unwilling = nullptr;
  bool is_all_there = false;  // one that could begin but is not to, whatever the sizes
  SegmentPtr refused;         // by what came as its first call
  Reason refusal = Reason::kForced;
  const auto begins = [&](const SegmentPtr& segment, Replay* replay) {
    if (!discovery_.is_after(segment->before) || segment->loop.get() == unwilling) return false;
    if (begin_trial(segment)) return false;
    const bool is_loop_willing = segment->loop->backoff.is_willing();
    if (!is_loop_willing) unwilling = segment->loop.get();
    if (!is_loop_willing || !segment->backoff.is_willing()) {
      is_all_there |= !may_be_at_other_sizes(*segment);
      return false;
    }
    Reason why = Reason::kForced;
    if (begin_run(replay ? *replay : replay_of(segment), call, site, outputs, why)) return true;
    if (why == Reason::kMoved) {
      add_moving(hash, 0, true);
      retire(segment);
    } else if (why != Reason::kForced && !refused) {
      refused = segment;
      refusal = why;
    }
    return false;
  };
  // A call that the first one matches has the key by which they were found.
  Beginning& known = beginnings_[hash % kBeginnings];
  const bool is_current =
      known.head == hash && known.changes == path_changes.load(std::memory_order_acquire);
  if (known.head == hash && known.prefers_any_size() && start_at_sizes(hash, call, site, outputs))
    return true;
  const bool is_first_tried = is_current && known.are_one_loop;
  if (is_first_tried) {
    if (!known.first) known.first = &replay_of(known.segments.front());
    if (begins(known.segments.front(), known.first)) return true;
  }
  const std::uint64_t key = key_of_first(call, site);
  const bool is_same_key = is_current && known.key == key;
  if (!is_same_key) {
    unwilling = nullptr;
    is_all_there = false;
    refused.reset();
    refusal = Reason::kForced;
    look_up(known, hash, key);
  }
  PooledVector<SegmentPtr> candidates(
      known.segments.begin() + (is_same_key && is_first_tried ? 1 : 0), known.segments.end());
  order_by_promise(candidates);
  for (const SegmentPtr& segment : candidates)
    if (begins(segment, nullptr)) return true;
  if (start_at_sizes(hash, call, site, outputs)) return true;
  if (trial_) return false;
  if (!is_all_there || refused) note_other_sizes(hash, refusal);
  if (refused)
    refused->profile.note_exit(0, 0, refused->calls.size(), refusal, {}, 0, time_since_exit());
  return false;
}

template bool Context::start_replay(std::uint64_t, const Call&, const SiteKey&, Tensor*);
template bool Context::start_replay(std::uint64_t, const LibraryCall&, const SiteKey&, Tensor*);

// All calls have matched. With skip_last, the caller runs the last call's expansion on failure.
bool Context::commit_complete(std::size_t skip_last) {
  Reason why = Reason::kCompleted;
  const Busy busy(busy_);
  const std::int64_t every = check_every();
  const bool is_checked = every > 0 && ++commits_ % every == 0;
  if (is_checked) replay_->save_before_commit();
  const TraceSpan span("replay", replay_->segment().id);
  if (replay_->commit(why)) {
    if (is_checked) {
      const std::string difference = replay_->compare_with_eager();
      const std::string source = replay_->segment().source;
      end_replay(true, why);
      GROOVE_CHECK(difference.empty(),
                   "GROOVE_CHECK: the compiled loop at {} does not give the "
                   "bits of eager mode: {}; this is a defect of Groove, please report it",
                   source, difference);
      return true;
    }
    end_replay(true, why);
    return true;
  }
  if (why == Reason::kEscape) add_widened(replay_->segment().head, replay_->escaped());
  deoptimize(why, skip_last);
  return false;
}

void Context::deoptimize(Reason reason, std::size_t skip_last) {
  const Wanted wanted = std::exchange(wanted_, Wanted::kNothing);
  const bool is_recorded = wanted != Wanted::kNothing && skip_last == 0;
  const bool is_piece = wanted == Wanted::kPiece && is_recorded;
  if (reason == Reason::kMoved) add_moving(replay_->segment().head, replay_->matched(), true);
  if (environment().logs("guards"))
    fmt::print(stderr, "groove: left segment {} ({}) at call {} of {}: {}\n", replay_->segment().id,
               replay_->segment().source, replay_->matched(), replay_->segment().calls.size(),
               text(reason));
  const std::int64_t start = nanoseconds_now();
  shows_results_.store(true, std::memory_order_release);
  try {
    if (is_recorded) {
      run_again_recorded(reason, is_piece);
    } else {
      const Busy busy(busy_);
      const TraceSpan span(text(reason), replay_->segment().id);
      replay_->run_eagerly(skip_last);
    }
  } catch (...) {
    give_up_run();
    throw;
  }
  reason = note_exit(reason, nanoseconds_now() - start);
  end_replay(false, reason);
  if (is_piece && state_ == State::kRecording) end_recording();
}

void Context::end_run(Reason reason) {
  if (replay_->is_complete())
    commit_complete(0);
  else
    deoptimize(reason, 0);
}

void Context::note_run(bool is_hit) {
  const std::size_t matched = replay_->matched();
  if (matched == 0) return;
  const Segment& segment = replay_->segment();
  const RecordedCall& last = segment.calls[matched - 1];
  if (std::exchange(is_at_new_sizes_, false)) discovery_.note_any_size();
  discovery_.on_run(segment.head, last.hash, replay_->stretch(), is_hit, replay_->position());
  if (last.ends_step) discovery_.on_step_end();
}

void Context::end_replay(bool is_hit, Reason reason) {
  Replay* const replay = replay_;
  came_ = {};
  error_at_.reset();
  const std::size_t matched = replay->matched();
  if (started_ >= 0) started_ += replay->preparing();
  note_run(is_hit);
  replay_ = nullptr;
  replay->reset();
  close_run();
  if (state_ == State::kReplaying) move_to(State::kWatching);
  Segment& segment = *replay->told_segment();
  if (is_hit) {
    // A path that runs go over to is timed when it comes next.
    if (started_ >= 0) {
      note_time(segment, std::max<std::int64_t>(0, thread_time() - started_ - thread_time_cost()));
      if (wanted_time_.get() == &segment) wanted_time_.reset();
    } else if (segment.profile.wants_time(segment.statistics.hits) && !segment.backoff.is_cold()) {
      wanted_time_ = replay->told_segment();
    }
    count_compiled(replay->operators());
    if (Beginning& known = beginnings_[segment.head % kBeginnings];
        known.resized > 0 && known.head == segment.head && !replay->segment().original)
      known.resized = 0;
    const std::uint64_t hits = ++segment.statistics.hits;
    want_trial(*replay);
    if (may_be_promoted(segment, hits))
      promote_if_it_pays(replay->told_segment(), hits, is_compilation_synchronous());
    segment.recent_runs.store(segment.recent_runs.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
    if (segment.missed.load(std::memory_order_relaxed) != 0)
      segment.missed.store(0, std::memory_order_relaxed);
    const std::size_t calls = segment.calls.size();
    note_gain(replay->told_segment(), true, calls, segment.profile.gain_of(replay->operators()));
    release_idle(*replay);
    drop_retired();
    return;
  }
  ++segment.statistics.leaves;
  ++segment.statistics.left_at_reason[static_cast<int>(reason)];
  if (reason == Reason::kForced || reason == Reason::kModeChange) return;
  const bool is_wrong = reason == Reason::kEscape || reason == Reason::kMoved ||
                        reason == Reason::kAnyOperand || reason == Reason::kProgramFailed;
  if (!is_wrong) {
    if (state_ == State::kRecording) return segment.loop->note_recorded();
    note_left(replay->told_segment());
    // Where only the program for its sizes is missing, there may be one next time.
    const bool lacks_program = reason == Reason::kLiveInType && matched == segment.calls.size();
    if (lacks_program)
      segment.loop->note(false, -lost_at_exit_, segment.profile.eager() * 1e6);
    else
      note_gain(replay->told_segment(), false, matched, -lost_at_exit_);
    return;
  }
  // What was taken for granted in it does not hold: it is recorded afresh, without.
  retire(replay->told_segment());
  if (reason != Reason::kProgramFailed && state_ != State::kRecording)
    again_[segment.head] = {.base = replay->told_segment()};
}

}  // namespace groove::tracer
