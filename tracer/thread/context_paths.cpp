// A context whose program does not do what the replayed segment says. First choice: another segment
// that begins alike goes on with the run. Otherwise the run is left, and when the same comes again
// what the program does is recorded, from the first call on, so that it has a segment of its own.
#include <algorithm>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/trace.h"
#include "tracer/cache/paths.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/report.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kLongestRecording = 20'000;
constexpr std::size_t kShortestLimit = 512;  // calls, of a step
constexpr std::size_t kShortestSide = 64;    // … and of another iteration, gone another way
constexpr std::size_t kShortestPiece = 4;    // calls that are worth a run

template <typename Call>
bool is_head(const Segment& segment, const Call& call, const SiteKey& site) {
  return segment.calls.front().op == call.op && segment.calls.front().site == site;
}

std::uint64_t site_hash(const SiteKey& site) {
  return reinterpret_cast<std::uintptr_t>(site.file) * 0x9e3779b97f4a7c15u ^
         (static_cast<std::uint64_t>(site.line) << 32 | site.column) ^
         static_cast<std::uint64_t>(site.ordinal) << 20;
}

// Reasons that are the program's doing and would be the same next time. Strict mode is not left.
bool is_recordable(Reason reason) {
  if (is_strict()) return false;
  switch (reason) {
    case Reason::kMismatchOp:
    case Reason::kMismatchSite:
    case Reason::kMismatchAttribute:
    case Reason::kMismatchOperand:
    case Reason::kMismatchNumber:
    case Reason::kMismatchGradMode:
    case Reason::kMismatchState:
    case Reason::kMoved:
    case Reason::kLiveInType:
    case Reason::kLiveInAlias:
    case Reason::kExposed:
    case Reason::kExposedLarge:
    case Reason::kHostRead:
    case Reason::kHostAccess:
    case Reason::kExposedWrite:
    case Reason::kModeChange:
      return true;
    default:
      return false;
  }
}

// Will what comes where this segment is left come again? Of what tensors take any place in, no:
// what was recorded in place of smaller segments for that, and has not gone through yet, will not.
bool is_recordable(const Segment& left, Reason reason) {
  return is_recordable(reason) && !(reason == Reason::kMismatchOperand && left.is_in_vain());
}

}  // namespace

// What the calls of a run that is left do while they run again: they are recorded.
class Context::Redo final : public Rerun {
 public:
  explicit Redo(Context& context) : context_(context) {}

  void call(const Call& call, const SiteKey& site, Tensor* outputs) override {
    if (is_recording()) {
      context_.run_recorded(call, site, outputs);
    } else {
      const Busy busy(context_.busy_);
      run_eager(call, outputs);
    }
  }
  void library_call(const LibraryCall& recorded, const SiteKey& site, void (*expand)(void*),
                    void* argument) override {
    if (is_recording()) {
      context_.run_recorded(recorded, site, expand, argument);
    } else {
      const Busy busy(context_.busy_);
      expand(argument);
    }
  }
  void nested(const Call& call, Tensor* outputs) override {
    if (context_.is_expanding_)
      context_.call_in_expansion(call, outputs);
    else
      run_eager(call, outputs);
  }
  void use_grad(TensorImpl& leaf) override { context_.on_use_grad(leaf); }
  void set_grad(TensorImpl& leaf, const Tensor& grad) override {
    if (context_.is_expanding_) context_.recorder_->set_grad(leaf, grad);
  }
  void became(TensorImpl& result, TensorImpl& handle) override {
    if (is_recording()) context_.recorder_->substitute(result, handle);
  }
  void looked_at(TensorImpl& impl) override {
    if (!is_recording()) return;
    context_.recorder_->host_read(impl);
    give_up_if_failed();
  }
  void call_is_over(const RecordedCall& recorded) override {
    if (!is_recording()) return;
    if (context_.recorder_->must_end_now()) context_.recorder_->fail(Reason::kExposedWrite);
    give_up_if_failed();
    if (is_recording()) context_.recorder_->set_hash(recorded.hash);
  }

 private:
  bool is_recording() const { return context_.state_ == State::kRecording; }
  void give_up_if_failed() {
    if (context_.recorder_->failure()) context_.abandon_recording();
  }
  Context& context_;
};

Replay& Context::replay_of(const SegmentPtr& segment) {
  std::unique_ptr<Replay>& replay = replays_[segment.get()];
  if (!replay)
    replay = std::make_unique<Replay>(segment, next_session(SessionOf::kRuns), workspace_,
                                      shows_results_);
  return *replay;
}

void Context::drop_retired() {
  const std::uint64_t now = retirements();
  if (now == retirements_) return;
  retirements_ = now;
  beginnings_ = {};
  std::erase_if(replays_, [this](const auto& entry) {
    return entry.second && entry.second.get() != replay_ &&
           entry.second->told_segment()->state.load() == State::kRetired;
  });
  drop_retired_symbolic_segments();
}

// Loops of another phase of the program keep no memory.
void Context::release_idle(Replay& ran) {
  constexpr std::uint64_t kIdle = 64;
  ran.note_run(++compiled_runs_);
  if (compiled_runs_ % kIdle != 0) return;
  for (const auto& [segment, replay] : replays_)
    if (replay && replay.get() != replay_ && replay->last_run() + kIdle < compiled_runs_)
      replay->release_memory();
  release_gone();
}

// What models hold that are no more. A loop that trains another one meets it at its next run.
void Context::release_gone() {
  for (const auto& [segment, replay] : replays_)
    if (replay && replay.get() != replay_) replay->release_gone();
}

// ---- which one to begin ----

// Several loops may begin with the same call: the one that promises most comes first. Steps are one
// loop here, however they were found, and the way that was taken last speaks for all of a loop.
void Context::order_by_promise(PooledVector<SegmentPtr>& segments) {
  const auto is_other = [&](const SegmentPtr& segment) {
    return segment->loop != segments.front()->loop;
  };
  if (segments.size() < 2 || std::none_of(segments.begin(), segments.end(), is_other)) return;
  std::vector<std::pair<const LoopRecord*, double>> promises;  // null: of steps
  const auto promise = [&promises](const SegmentPtr& segment) {
    const LoopRecord* const of =
        segment->kind == Discovery::Kind::kStep ? nullptr : segment->loop.get();
    for (const auto& [loop, value] : promises)
      if (loop == of) return value;
    const bool keeps_history = segment->history != nullptr;
    return promises.emplace_back(of, segment->loop->promise(segment->expected, keeps_history))
        .second;
  };
  for (const SegmentPtr& segment : segments) promise(segment);
  std::stable_sort(segments.begin(), segments.end(), [&](const SegmentPtr& a, const SegmentPtr& b) {
    return promise(a) > promise(b);
  });
  std::vector<const LoopRecord*> done{segments.front()->loop.get()};
  for (const SegmentPtr& segment : segments) {
    LoopRecord* const loop = segment->loop.get();
    if (std::find(done.begin(), done.end(), loop) != done.end()) continue;
    loop->forgive();
    done.push_back(loop);
  }
}

// ---- going over ----

template <typename AnyCall>
bool Context::go_over(const AnyCall& call, const SiteKey& site, Tensor* outputs, Reason why) {
  if (why == Reason::kForced || wanted_ != Wanted::kNothing) return false;
  Replay& from = *replay_;
  const std::uint64_t key = from.key_of(call, site);
  for (const SegmentPtr& segment : armed_continuing(from.path_node(), key)) {
    if (segment.get() == &from.segment() || !began_after(segment->before)) continue;
    Replay& to = replay_of(segment);
    if (!to.can_switch_path(from)) continue;
    to.switch_path(from);
    replay_ = &to;
    Reason other = why;
    const bool has_matched = try_match(call, site, outputs, other);
    if (environment().logs("guards"))
      fmt::print(stderr, "groove: segment {} {} segment {} at call {}: {}\n", segment->id,
                 has_matched ? "goes on with the run of" : "cannot go on with the run of",
                 from.segment().id, to.matched(), text(has_matched ? why : other));
    if (has_matched) {
      note_taken(segment);
      return true;
    }
    if (state_ != State::kReplaying || replay_ != &to) return false;  // its check left the run
    to.hand_back(from);
    replay_ = &from;
  }
  if (from.is_complete()) return false;
  const Segment& segment = from.segment();
  const bool is_over = is_head(segment, call, site) && segment.has_single_head();
  if (is_over && go_over_to_end()) return false;
  // At sizes that are never the same, what comes is the same call.
  const std::uint64_t exit =
      SideExits::at(from.path_node(), segment.original ? site_hash(site) : key);
  const bool is_waiting = std::exchange(is_waiting_, false);
  wanted_ = is_waiting ? Wanted::kNothing : wants_side(exit, why);
  if (wanted_ == Wanted::kNothing && !is_waiting && wants_sample_here(call, site, why))
    wanted_ = Wanted::kSide;
  if (wanted_ != Wanted::kNothing || is_over || go_over_to_end() || is_waiting ||
      std::exchange(is_waiting_, false))
    return false;
  wanted_ = wants_piece(exit, why);
  return false;
}

template bool Context::go_over(const Call&, const SiteKey&, Tensor*, Reason);
template bool Context::go_over(const LibraryCall&, const SiteKey&, Tensor*, Reason);

// A segment that ends where the run is now takes it over and commits it.
bool Context::go_over_to_end() {
  Replay& from = *replay_;
  for (const SegmentPtr& segment : armed_ending(from.path_node())) {
    if (segment.get() == &from.segment()) continue;
    Replay& to = replay_of(segment);
    if (!to.can_switch_path(from)) continue;
    to.switch_path(from);
    replay_ = &to;
    note_taken(segment);
    commit_complete(0);
    return true;
  }
  if (!go_over_to_end_at_sizes()) return false;
  commit_complete(0);
  return true;
}

bool Context::go_over_to_reader(TensorImpl& impl) {
  wanted_ = Wanted::kNothing;
  Replay& from = *replay_;
  const std::int32_t storage = from.storage_of(impl);
  if (storage < 0) return false;
  for (const SegmentPtr& segment : armed_reading(from.path_node(), storage)) {
    if (segment.get() == &from.segment()) continue;
    Replay& to = replay_of(segment);
    if (!to.can_switch_path(from)) continue;
    to.switch_path(from);
    replay_ = &to;
    if (to.run_stage_for(impl)) {
      note_taken(segment);
      return true;
    }
    to.hand_back(from);
    replay_ = &from;
  }
  if (from.is_complete()) return false;
  wanted_ = wants_side(SideExits::at(from.path_node(), ~static_cast<std::uint64_t>(storage)),
                       Reason::kHostRead);
  return wanted_ == Wanted::kNothing && go_over_to_end();
}

// ---- recording what came at an exit ----

// The segment of which what came is another iteration. What is no iteration of a loop has no end of
// its own that another way could come to; but one may begin with the same calls.
SegmentPtr Context::base_of_side() const {
  const auto is_iteration = [](const SegmentPtr& segment) {
    return segment->kind != Discovery::Kind::kGap && segment->kind != Discovery::Kind::kRepeat;
  };
  if (is_iteration(replay_->segment_pointer())) return replay_->segment_pointer();
  for (const SegmentPtr& segment : armed_through(replay_->segment(), replay_->matched()))
    if (is_iteration(segment) && segment->before == replay_->segment().before) return segment;
  return nullptr;
}

Context::Wanted Context::wants_side(std::uint64_t exit, Reason reason) {
  if (!base_of_side()) return Wanted::kNothing;
  side_exit_ = exit;
  if (!is_recordable(*replay_->told_segment(), reason)) return Wanted::kNothing;
  // What moved, or was put in another's place, does not come back: waiting would not tell more.
  const bool is_lasting = reason == Reason::kMoved || reason == Reason::kMismatchState;
  const Segment& segment = replay_->segment();
  return side_exits_.is_hot(exit, segment.head, hot_repeats(), is_lasting) &&
                 affords_recording(segment.calls.size())
             ? Wanted::kSide
             : Wanted::kNothing;
}

// Where paths part again and again, and no other way is to be recorded, the calls that they share
// become a segment of their own.
Context::Wanted Context::wants_piece(std::uint64_t exit, Reason reason) {
  if (replay_->matched() < kShortestPiece) return Wanted::kNothing;
  side_exit_ = SideExits::piece_up_to(exit);
  if (!is_recordable(*replay_->told_segment(), reason)) return Wanted::kNothing;
  return side_exits_.is_hot_piece(side_exit_, 2 * hot_repeats()) &&
                 affords_recording(replay_->matched())
             ? Wanted::kPiece
             : Wanted::kNothing;
}

// A sample of other sizes is no segment of its own, which the exit would wait for in vain.
void Context::note_made(const SegmentPtr& segment) {
  if (!side_of_ || side_exit_ == 0 || is_sample_) return;
  side_exits_.note_made(side_exit_, segment);
}

void Context::begin_side(const SegmentPtr& base, std::uint64_t exit) {
  side_of_ = base;
  side_exit_ = exit;
  times_before_.clear();
  moved_calls_.clear();
  recorded_stop_ = base->has_single_head() ? base->head : 0;
  recorded_plan_ = Discovery::Plan{};
  recorded_plan_->head = base->head;
  recorded_plan_->length = base->expected;
  recorded_plan_->kind = base->kind;
  recorded_plan_->before = base->before;
  recorded_ = {};
  recorded_cost_ = 0;
  samples_left_ = -1;
  recorder_ = std::make_unique<Recorder>(base->head, next_session(SessionOf::kRecording),
                                         moving(base->head), widened(base->head));
  recorder_->set_before(base->before);
  move_to(State::kRecording);
}

void Context::start_side_recording(std::uint64_t head) {
  const auto found = again_.find(head);
  const Again again = std::move(found->second);
  again_.erase(found);
  is_sample_ = again.is_sample;
  begin_side(again.base, 0);
  samples_left_ = again.samples_left;
}

// The calls of the run that is left run again under a recorder, which goes on with what comes now.
void Context::run_again_recorded(Reason reason, bool is_piece) {
  const SegmentPtr base = is_piece ? nullptr : base_of_side();
  begin_side(base ? base : replay_->segment_pointer(), side_exit_);
  Redo redo(*this);
  const TraceSpan span(text(reason), replay_->segment().id);
  replay_->run_eagerly(0, &redo);
}

bool Context::is_recording_over(std::uint64_t next) const {
  const std::size_t calls = recorder_->calls();
  const std::size_t expected = recorded_plan_->length;
  const bool is_step = recorded_plan_->kind == Discovery::Kind::kStep;
  // What is no iteration of a loop ends, at other sizes, after as many calls.
  if (is_sample_ && (recorded_plan_->kind == Discovery::Kind::kGap ||
                     recorded_plan_->kind == Discovery::Kind::kRepeat))
    return calls >= expected;
  // A step goes on to its end, however long it is this time.
  const std::size_t longest =
      std::min(kLongestRecording, is_step    ? std::max(kShortestLimit, 4 * expected)
                                  : side_of_ ? std::max(kShortestSide, 2 * expected)
                                             : expected);
  if (calls >= longest) return true;
  if (!side_of_ || calls == 0) return false;
  return (recorded_stop_ != 0 && next == recorded_stop_) ||
         (!is_step && next == recorded_plan_->head && calls >= expected);
}

bool Context::is_recording_over_at_read() const {
  if (recorded_plan_->kind == Discovery::Kind::kStep) return false;
  const bool ends_at_read = recorded_plan_->kind == Discovery::Kind::kHostRead;
  if (side_of_) return recorder_->calls() > 0 && ends_at_read;
  // The plan may be one of several that begin alike.
  return recorder_->calls() >= recorded_plan_->length ||
         (ends_at_read && discovery_.is_planned(recorded_plan_->head, recorded_));
}

}  // namespace groove::tracer
