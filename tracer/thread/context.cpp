#include "tracer/thread/context.h"

#include <algorithm>
#include <vector>

#include "kernels/lowering.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/grad_mode.h"
#include "src/core/hash.h"
#include "src/core/state.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/symbolic_table.h"
#include "tracer/calls/numbers.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/report.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"
#include "tracer/watch/varieties.h"

namespace groove::tracer {
namespace {

inline std::uint64_t hash_head(const Op& op, const Attrs& attrs, const SiteKey& site,
                               SizesOfLine& sizes) {
  // Sums of products, so that none waits for another.
  const std::uint64_t what =
      static_cast<std::uint64_t>(op.id) << 2 | (groove::detail::is_grad_recorded ? 1 : 0);
  const std::uint64_t where = static_cast<std::uint64_t>(site.line) << 32 | site.column;
  std::uint64_t h = (what + static_cast<std::uint64_t>(default_dtype_epoch()) * (1ull << 32)) *
                        0xff51afd7ed558ccdu +
                    reinterpret_cast<std::uintptr_t>(site.file) * 0xc4ceb9fe1a85ec53u +
                    where * 0x9fb21c651e98df25u + site.ordinal * 0xd6e8feb86659fd93u;
  constexpr std::int64_t kLeastSize = 2;
  std::uint64_t without = h, shown = 0;
  bool has_sizes = false;
  for (const std::int64_t word : attrs.words()) {
    h = mixed(h, static_cast<std::uint64_t>(word));
    shown = mixed(shown, static_cast<std::uint64_t>(word));
    without = mixed(without, static_cast<std::uint64_t>(std::min(word, kLeastSize)));
    has_sizes = has_sizes || word > kLeastSize;
  }
  if (has_sizes) sizes = note_sizes(without, shown);
  if (sizes.are_endless) h = without;
  return h ^ h >> 29;
}

inline std::uint64_t hash_call(const Call& call, const SiteKey& site, SizesOfLine& sizes) {
  const std::uint64_t h = hash_head(*call.op, *call.attrs, site, sizes);
  std::uint64_t types = call.is_inplace ? 1 : 2;
  for (const Tensor& input : call.inputs)
    types = types * 31 + (input.defined() ? static_cast<std::uint64_t>(input.impl()->dtype) * 16 +
                                                input.impl()->geometry.sizes.size()
                                          : 997);
  return mixed(h, types);
}

std::uint64_t hash_call(const LibraryCall& call, const SiteKey& site) {
  SizesOfLine sizes;
  return mixed(mixed(hash_head(*call.op, *call.attrs, site, sizes), call.walked.size()),
               call.structure);
}

Discovery::Cost cost_of(const Call& call) {
  return call.op->kind == OpKind::kView ? Discovery::kViewCost : Discovery::kOpCost;
}

// Has an iteration of the segment the calls of the plan as a part, after the call `before`?
bool has_part(const Segment& segment, std::uint64_t before, const Discovery::Plan& plan) {
  const std::size_t count = segment.calls.size();
  if (plan.length > count) return false;
  const auto hash_at = [&](std::size_t at) { return segment.calls[at % count].hash; };
  for (std::size_t first = 0; first < count; ++first) {
    if (hash_at(first) != plan.head || hash_at(first + count - 1) != before) continue;
    Stretch calls;
    for (std::size_t at = first; at < first + plan.length; ++at) calls.append(hash_at(at));
    if (calls.order == plan.hash) return true;
  }
  return false;
}

inline std::uint32_t position_of(const Call& call) {
  Position position;
  if (call.op->kind == OpKind::kView)
    for (const Scalar& number : call.numbers) position.add(number_bits(number));
  return position.value();
}

}  // namespace

Context::Context(std::uint64_t index) : index_(index) { discovery_.set_hot(hot_repeats()); }

Context::~Context() = default;

void Context::move_to(State next) {
  if (next == state_) return;
  if ((next == State::kRecording || state_ == State::kRecording) && environment().logs("segments"))
    fmt::print(stderr, "groove: {}\n",
               next == State::kRecording ? "recording a loop" : "recording ended");
  if (state_ == State::kRecording) release_recording(recorded_plan_->head);
  if (next == State::kRecording) recordings_begun.fetch_add(1, std::memory_order_relaxed);
  if (next == State::kRecording && trial_) end_trial();
  state_ = next;
}

// ---- ops ----

void Context::on_call(const Call& call, Tensor* outputs) {
  if (busy_ > 0) return run_eager(call, outputs);
  if (is_expanding_) return call_in_expansion(call, outputs);
  const SiteKey site = site_key(call.site);
  if (state_ == State::kReplaying && match_next(call, site, outputs) == Matched::kYes) return;
  if (is_tape_outside_) take_back_tape();
  settle(call.inputs);
  SizesOfLine sizes;
  const std::uint64_t hash = hash_call(call, site, sizes);
  if (sizes.are_endless) discovery_.note_any_size();
  if (sizes.are_news) [[unlikely]]
    discovery_.put_off_search();
  if (state_ == State::kWatching && !discovery_.plan(hash) && !may_have_segment(hash) &&
      !is_recording_due()) [[likely]] {
    run_watched(call, hash, outputs);
    return throw_if_strict(hash);
  }
  on_call_with_news(call, site, hash, outputs);
}

inline void Context::run_watched(const Call& call, std::uint64_t hash, Tensor* outputs) {
  {
    const Busy busy(busy_);
    run_eager(call, outputs);
  }
  note_watched(hash, cost_of(call), position_of(call));
}

// Something is being recorded, or may begin now.
void Context::on_call_with_news(const Call& call, const SiteKey& site, std::uint64_t hash,
                                Tensor* outputs) {
  if (state_ == State::kRecording) {
    if (const std::optional<Reason> reason = recorder_->must_end_before(call, site)) {
      cut_recording(*reason);
    } else if (!is_recording_over(hash)) {
      record_call(call, site, hash, outputs);
      return throw_if_strict();
    } else {
      finish_recording();
    }
  }
  watch_call(call, site, hash, outputs);
  throw_if_strict(hash);
}

// A loop around compiled runs is recorded in their place. What has been compiled since it was seen
// gets a chance before.
bool Context::is_recording_first(std::uint64_t hash, const Discovery::Plan* plan) {
  if (discovery_.is_quiet()) return true;
  if (!plan || !plan->covers_runs || !wants_segment(hash)) return false;
  return !has_armed(hash, plan->hash, plan->length) || !discovery_.let_run(*plan);
}

void Context::watch_call(const Call& call, const SiteKey& site, std::uint64_t hash,
                         Tensor* outputs) {
  if (is_trial_running()) return run_watched(call, hash, outputs);
  const Discovery::Plan* plan = discovery_.plan(hash);
  const bool is_first = is_recording_first(hash, plan);
  if (!is_first && may_have_segment(hash) && start_replay(hash, call, site, outputs)) return;
  if (plan) plan = discovery_.plan(hash);
  if (try_start_recording(call, site, hash, plan)) {
    record_call(call, site, hash, outputs);
    return;
  }
  run_watched(call, hash, outputs);
}

// What a recording holds already is no loop of its own, unless it has come since and there is a
// program for it.
bool Context::is_part_of_recorded(const Discovery::Plan& plan) {
  if (plan.covers_runs) return false;
  for (const SegmentPtr& segment : all_segments()) {
    const State state = segment->state.load(std::memory_order_acquire);
    const bool is_new = segment->recorded_by == index_ && plan.seen_at <= segment->recorded_at;
    const bool is_held = state == State::kArmed && (is_new || waits_for_sizes(*segment));
    if ((state == State::kCompiling || is_held) && has_part(*segment, discovery_.last(), plan)) {
      discovery_.put_off(plan);
      return true;
    }
  }
  return false;
}

// Twice it has been compiled in place of smaller segments, and has never gone through: its calls
// are always the same, but other tensors take their places each time.
bool Context::was_in_vain(const Discovery::Plan& plan) {
  constexpr int kTwice = 2;
  if (!plan.covers_runs) return false;
  int vain = 0;
  for (const SegmentPtr& segment : all_segments())
    if (segment->head == plan.head && segment->calls.size() == plan.length && segment->is_in_vain())
      ++vain;
  if (vain < kTwice) return false;
  discovery_.put_off(plan);
  return true;
}

// At other sizes it is there, and will have a program for these.
bool Context::has_waiting_segment(const Discovery::Plan& plan) {
  for (const SymbolicSegmentPtr& symbolic : symbolic_segments_of(plan.head))
    if (symbolic->original()->calls.size() == plan.length &&
        (symbolic->is_asked() || symbolic->original()->order_of_calls() == plan.hash)) {
      discovery_.wait(plan);
      return true;
    }
  return false;
}

// What cannot be paid is not looked at more closely.
bool Context::is_worth_recording(const Discovery::Plan& plan) {
  if (affords_recording(plan.length))
    return !is_part_of_recorded(plan) && !was_in_vain(plan) && !has_waiting_segment(plan);
  discovery_.wait(plan);
  return false;
}

// A piece costs no less than a step that could be recorded instead, of a usual length: it comes
// first where that is too dear yet, and would be of no use afterwards. A program that has made many
// iterations will make as many more.
bool Context::affords_recording(std::size_t calls) const {
  constexpr std::size_t kUsual = 200, kMany = 64;
  if (is_compilation_synchronous() || is_strict()) return true;
  const std::size_t iteration =
      std::max(calls, std::min<std::size_t>(discovery_.last_step(), kUsual));
  return investment().affords_recording(iteration, discovery_.total().length >= kMany * iteration);
}

// Is what begins with this call to be recorded? A loop around compiled calls replaces them.
template <typename AnyCall>
bool Context::try_start_recording(const AnyCall& call, const SiteKey& site, std::uint64_t hash,
                                  const Discovery::Plan* plan) {
  const bool is_call = is_call_wanted() && !(plan && plan->covers_runs);
  if (plan && !is_call && !is_worth_recording(*plan)) plan = nullptr;
  const Again* const again = is_call || plan ? nullptr : wanted_again(hash);
  const bool is_wanted = is_call || plan || again;
  if (!is_wanted && starts_rest(hash)) return true;
  rest_.reset();  // it begins with this call or not at all
  if (again && again->is_sample && is_passed_over(again->base, 0, call, site)) return false;
  const std::size_t calls = plan ? plan->length : again ? again->base->calls.size() : 1;
  const bool is_affordable = is_wanted && affords_recording(calls);
  const bool is_started = is_affordable && claim_recording(hash);
  if (is_started && is_call)
    start_call_recording(hash);
  else if (is_started && plan)
    start_recording(*plan);
  else if (is_started)
    start_side_recording(hash);
  if (!frames_.empty()) note_nested_call();
  return is_started;
}

// What one line of the program makes again and again, and elsewhere at one of these times, may be
// elsewhere at any of them.
bool Context::has_moved(std::uint64_t hash, std::uint32_t position) {
  if (std::find(moved_calls_.begin(), moved_calls_.end(), hash) != moved_calls_.end()) return true;
  if (!discovery_.has_moved(times_before_, recorder_->calls(), hash, position)) return false;
  moved_calls_.push_back(hash);
  return true;
}

void Context::record_call(const Call& call, const SiteKey& site, std::uint64_t hash,
                          Tensor* outputs) {
  const std::uint32_t position = position_of(call);
  if (position != 0 && has_moved(hash, position)) {
    add_moving(recorded_plan_->head, recorder_->calls(), false);
    recorder_->expect_move();
  }
  run_recorded(call, site, outputs);
  note_recorded(hash, cost_of(call), position);
  if (recorder_->failure()) return abandon_recording();
  recorder_->set_hash(hash);
  if (recorder_->must_end_now()) cut_recording(Reason::kExposedWrite);
}

void Context::run_recorded(const Call& call, const SiteKey& site, Tensor* outputs) {
  const bool expands = is_seen_through(call);
  recorded_cost_ += cost_of(call);
  try {
    if (expands) {
      recorder_->open_expansion(call, site);
      const std::vector<Scalar> numbers = recorder_->tagged(call.numbers);
      Call inner = call;
      inner.numbers = numbers;
      is_expanding_ = true;
      run_eager(inner, outputs);
      is_expanding_ = false;
      recorder_->close_expansion(&call, outputs);
    } else {
      recorder_->open(call, site);
      const std::vector<Scalar> numbers = recorder_->tagged(call.numbers);
      Call inner = call;
      inner.numbers = numbers;
      const Busy busy(busy_);
      run_eager(inner, outputs);
      recorder_->close(call, outputs);
    }
  } catch (...) {
    is_expanding_ = false;
    recorder_->fail(Reason::kException);
    abandon_recording();
    throw;
  }
}

void Context::run_recorded(const LibraryCall& call, const SiteKey& site, void (*expand)(void*),
                           void* context) {
  recorder_->open_expansion(call, site);
  recorded_cost_ += Discovery::kBigCost;
  is_expanding_ = true;
  try {
    expand(context);
  } catch (...) {
    is_expanding_ = false;
    recorder_->fail(Reason::kException);
    abandon_recording();
    throw;
  }
  is_expanding_ = false;
  recorder_->close_expansion(call);
}

void Context::call_in_expansion(const Call& call, Tensor* outputs) {
  if (is_seen_through(call)) return run_eager(call, outputs);
  recorder_->open_nested(call);
  const Busy busy(busy_);
  run_eager(call, outputs);
  recorder_->close_nested(call, outputs);
}

// ---- library calls ----

void Context::on_library_call(const LibraryCall& call, void (*expand)(void*), void* context) {
  if (busy_ > 0 || is_expanding_) return expand(context);
  const SiteKey site = site_key(call.site);
  const auto run_now = [&] {
    const Busy busy(busy_);
    expand(context);
  };
  if (state_ == State::kReplaying) {
    const Matched matched = match_next(call, site, nullptr);
    if (matched == Matched::kLeftLast) {
      run_now();
      throw_if_strict();
    }
    if (matched != Matched::kNo) return;
  }
  if (is_tape_outside_) take_back_tape();
  settle(call.inputs);
  for (TensorImpl* const walked : call.walked) settle(walked);
  const std::uint64_t hash = hash_call(call, site);
  if (state_ == State::kRecording && is_recording_over(hash)) finish_recording();
  if (follows_outside(call)) {
    if (state_ == State::kRecording) end_recording();
    run_outside(hash, expand, context);
    if (call.ends_step) note_step_end();
    return throw_if_strict(hash);
  }
  const bool is_free = state_ == State::kWatching && !is_trial_running();
  const Discovery::Plan* plan = is_free ? discovery_.plan(hash) : nullptr;
  const bool is_first = is_recording_first(hash, plan);
  if (is_free && !is_first && may_have_segment(hash) && start_replay(hash, call, site, nullptr)) {
    if (must_run_last(call)) run_now();
    return throw_if_strict();
  }
  if (is_free) {
    if (plan) plan = discovery_.plan(hash);
    try_start_recording(call, site, hash, plan);
  }
  if (state_ == State::kRecording) {
    run_recorded(call, site, expand, context);
    note_recorded(hash, Discovery::kBigCost);
    if (recorder_->failure()) {
      abandon_recording();
    } else {
      recorder_->set_hash(hash);
      if (call.ends_step && recorded_plan_->kind != Discovery::Kind::kCall)
        finish_recording();
      else if (recorder_->must_end_now())
        cut_recording(Reason::kExposedWrite);
    }
    if (call.ends_step) discovery_.on_step_end();
    return throw_if_strict();
  }
  run_now();
  note_watched(hash, Discovery::kBigCost);
  if (call.ends_step) note_step_end();
  throw_if_strict(hash);
}

// ---- the program looks at things ----

void Context::on_host_read(TensorImpl& impl) {
  if (busy_ > 0 || is_expanding_) return;
  const Lock lock(*this);
  switch (state_) {
    case State::kReplaying: {
      const bool is_owed =
          impl.is_pending || (impl.storage && impl.storage->flags & Storage::kOwed);
      if (replay_->is_complete()) {
        commit_complete(0);
        discovery_.on_host_read();
        break;
      }
      discovery_.on_read_inside();
      if (is_owed) on_materialize(impl);
      break;
    }
    case State::kRecording:
      if (record_read(impl)) discovery_.on_host_read();
      break;
    default:
      if (is_trial_running())
        discovery_.on_read_inside();
      else
        discovery_.on_host_read();
  }
  throw_if_strict();
}

void Context::on_materialize(TensorImpl& impl) {
  const Lock lock(*this);
  // A run that is being left cannot be left again: an error is said then, see modes.cpp.
  if (state_ != State::kReplaying || replay_->is_being_left()) return;
  if (replay_->is_complete()) {
    commit_complete(0);
  } else {
    {
      const Busy busy(busy_);
      if (impl.trace_session == replay_->session() && impl.is_pending &&
          replay_->run_stage_for(impl))
        return;
    }
    if (go_over_to_reader(impl)) return;
    if (state_ == State::kReplaying) deoptimize(Reason::kHostRead, 0);
    // What is recorded from now on has this read, so that it need not be left here again.
    if (state_ == State::kRecording) record_read(impl);
  }
}

// Gives false when the recording was cut before the read.
bool Context::record_read(TensorImpl& impl) {
  if (is_recording_over_at_read()) {
    finish_recording();
    return true;
  }
  if (recorder_->must_end_before_read(impl)) {
    cut_recording(Reason::kWrittenAfterRead);
    return false;
  }
  recorder_->host_read(impl);
  if (recorder_->failure()) abandon_recording();
  return true;
}

void Context::on_host_access(TensorImpl& impl) {
  if (busy_ > 0 || is_expanding_) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying &&
      (impl.is_pending || replay_->owes_history(impl) || replay_->hides_history(impl)))
    flush(Reason::kHostAccess);
}

void Context::on_flags_read(TensorImpl& impl) {
  if (busy_ > 0 || is_expanding_) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying && replay_->hides_history(impl)) flush(Reason::kHostAccess);
}

// From now on the program may write this memory behind our back, while calls that read it wait.
void Context::on_expose(TensorImpl& impl) {
  if (busy_ > 0) return;
  const Lock lock(*this);
  if (state_ == State::kRecording) {
    if (!is_expanding_ && recorder_->makes(impl) && is_filled(recorder_->last_hash()))
      cut_recording(Reason::kExposedWrite);
    else
      recorder_->expose(impl);
  }
  Reason why = Reason::kExposed;
  if (state_ == State::kReplaying && !replay_->expose(*impl.storage, why)) flush(why);
}

// Flags and `.grad` of a tensor that calls have used already: later calls would mean something else
// than in the recording.
void Context::on_metadata_change(TensorImpl& impl) {
  if (busy_ > 0) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying &&
      (impl.is_pending || replay_->is_bound(impl) || replay_->makes(impl))) {
    flush(Reason::kHostAccess);
  } else if (state_ == State::kRecording && recorder_->knows(impl)) {
    if (is_expanding_) return recorder_->fail(Reason::kHostAccess);
    if (is_recording_over(0)) return finish_recording();
    cut_recording(Reason::kHostAccess);
  }
}

void Context::on_copy(const Tensor& original, const Tensor& copy) {
  if (state_ == State::kRecording) recorder_->note_copy(original, copy);
}

void Context::on_version(const TensorImpl& impl) {
  if (state_ == State::kRecording) recorder_->note_version(impl);
}

void Context::on_set_grad(TensorImpl& leaf, const Tensor& grad) {
  if (is_expanding_ && busy_ == 0) {
    recorder_->set_grad(leaf, grad);
  } else if (busy_ == 0) {
    flush(Reason::kHostAccess);
  }
}

void Context::on_use_grad(TensorImpl& leaf) {
  if (is_expanding_ && busy_ == 0) recorder_->use_grad(leaf);
}

void Context::on_number_read(int origin) {
  if (state_ == State::kRecording) recorder_->number_was_read(origin);
}

void Context::flush(Reason reason) {
  const Lock lock(*this);
  const bool is_boundary = reason == Reason::kHostAccess || reason == Reason::kExposed;
  if (state_ == State::kReplaying) {
    wanted_ = Wanted::kNothing;
    if (is_boundary)
      deoptimize_and_cut(reason);
    else
      end_run(reason);
  } else if (state_ == State::kRecording) {
    if (is_boundary && !is_expanding_) return cut_recording(reason);
    recorder_->fail(reason);
    abandon_recording();
  }
}

void Context::forget() {
  flush(Reason::kModeChange);
  go_on();
  balance_ = Balance();
  savings_ = Savings();
  shapes_.clear();
  shown_.clear();
  is_sample_ = false;
  beginnings_ = {};
  replays_.clear();
  side_exits_ = {};
  rest_.reset();
  trial_.reset();
  wanted_trial_.reset();
  wanted_time_.reset();
  again_.clear();
  frames_.clear();
  calls_.clear();
  forget_uncompiled();
  strict_error_.clear();
  discovery_.clear();
  discovery_.set_hot(hot_repeats());
}

}  // namespace groove::tracer
