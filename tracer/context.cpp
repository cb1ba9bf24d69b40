#include "tracer/context.h"

#include "kernels/lowering.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/state.h"
#include "tracer/modes.h"
#include "tracer/registry.h"
#include "tracer/report.h"
#include "tracer/tape_hooks.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kLongestRecording = 20'000;

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

std::uint64_t hash_head(const Op& op, const Attrs& attrs, const SiteKey& site) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(op.id) << 2 | (grad_enabled() ? 1 : 0),
                        reinterpret_cast<std::uintptr_t>(site.file));
  h = mix(h, static_cast<std::uint64_t>(site.line) << 40 ^
                 static_cast<std::uint64_t>(site.column) << 24 ^ site.ordinal);
  for (const std::int64_t word : attrs.words()) h = mix(h, static_cast<std::uint64_t>(word));
  return mix(h, default_dtype_epoch());
}

std::uint64_t hash_word(const Call& call, const SiteKey& site) {
  const std::uint64_t h = hash_head(*call.op, *call.attrs, site);
  std::uint64_t types = call.is_inplace ? 1 : 2;
  for (const Tensor& input : call.inputs)
    types = types * 31 + (input.defined() ? static_cast<std::uint64_t>(input.impl()->dtype) * 16 +
                                                input.impl()->geometry.sizes.size()
                                          : 997);
  return mix(h, types);
}

std::uint64_t hash_word(const BigWord& word, const SiteKey& site) {
  return mix(
      mix(hash_head(*word.op, *word.attrs, site), reinterpret_cast<std::uintptr_t>(word.object)),
      word.epoch);
}

// A composite that has no gradient of its own is seen by the tape as its parts, so the recording
// must see them too.
bool is_seen_through(const Call& call) {
  if (call.op->kind != OpKind::kComposite || call.op->gradient || !grad_enabled()) return false;
  for (const Tensor& input : call.inputs)
    if (input.defined() && input.impl()->requires_grad) return true;
  return false;
}

}  // namespace

namespace {
thread_local bool holds_lock = false;  // there is one traced context, so one lock
}  // namespace

Context::Lock::Lock(Context& context) : context_(context), is_nested_(holds_lock) {
  if (is_nested_) return;
  while (context_.locked_.exchange(true, std::memory_order_acquire)) yield_thread();
  holds_lock = true;
}

Context::Lock::~Lock() {
  if (is_nested_) return;
  holds_lock = false;
  context_.locked_.store(false, std::memory_order_release);
}

Context::Context() { discovery_.set_hot(hot_repeats()); }

Context::~Context() {
  try {
    flush(Reason::kCompleted);
  } catch (...) {
    // A commit from a destructor never throws; what is still pending stays pending.
  }
}

void Context::move_to(State next) {
  if (next == state_) return;
  if ((next == State::kRecording || state_ == State::kRecording) && environment().logs("segments"))
    fmt::print(stderr, "groove: {}\n",
               next == State::kRecording ? "recording a loop" : "recording ended");
  state_ = next;
}

// ---- ops ----

void Context::on_call(const Call& call, Tensor* outputs) {
  if (busy_ > 0) return dispatch_below(DispatchLayer::kTracer, call, outputs);
  if (is_expanding_) return call_in_expansion(call, outputs);
  const Lock lock(*this);
  const SiteKey site = site_key(call.site);
  if (state_ == State::kReplaying) {
    Reason why = Reason::kForced;
    if (!is_forced_out() && replay_->match(call, site, outputs, why)) [[likely]]
      return;
    if (state_ == State::kReplaying) {
      end_run(why);
    }
  }
  const std::uint64_t hash = hash_word(call, site);
  if (state_ == State::kRecording) {
    if (recorder_->words() < recorded_plan_->length && recorder_->words() < kLongestRecording) {
      record_call(call, site, outputs);
      recorded_hash_ = mix(recorded_hash_, hash);
      return;
    }
    finish_recording();
  }
  watch_call(call, site, hash, outputs);
  throw_if_strict();
}

void Context::watch_call(const Call& call, const SiteKey& site, std::uint64_t hash,
                         Tensor* outputs) {
  if (may_have_segment(hash) && start_replay(hash, call, site, outputs)) return;
  if (const Discovery::Plan* plan = discovery_.plan(hash); plan && wants_segment(hash)) {
    start_recording(*plan);
    record_call(call, site, outputs);
    recorded_hash_ = mix(recorded_hash_, hash);
    return;
  }
  {
    const Busy busy(busy_);
    dispatch_below(DispatchLayer::kTracer, call, outputs);
  }
  discovery_.on_word(hash);
}

void Context::record_call(const Call& call, const SiteKey& site, Tensor* outputs) {
  const bool expands = is_seen_through(call);
  try {
    if (expands) {
      recorder_->open_expansion(call, site);
      const std::vector<Scalar> numbers = recorder_->tagged(call.numbers);
      Call inner = call;
      inner.numbers = numbers;
      is_expanding_ = true;
      dispatch_below(DispatchLayer::kTracer, inner, outputs);
      is_expanding_ = false;
      recorder_->close_expansion(&call, outputs);
    } else {
      recorder_->open(call, site);
      const std::vector<Scalar> numbers = recorder_->tagged(call.numbers);
      Call inner = call;
      inner.numbers = numbers;
      const Busy busy(busy_);
      dispatch_below(DispatchLayer::kTracer, inner, outputs);
      recorder_->close(call, outputs);
    }
  } catch (...) {
    is_expanding_ = false;
    recorder_->fail(Reason::kException);
    abandon_recording();
    throw;
  }
  if (recorder_->failure()) abandon_recording();
}

void Context::call_in_expansion(const Call& call, Tensor* outputs) {
  if (is_seen_through(call)) return dispatch_below(DispatchLayer::kTracer, call, outputs);
  recorder_->open_nested(call);
  const Busy busy(busy_);
  dispatch_below(DispatchLayer::kTracer, call, outputs);
  recorder_->close_nested(call, outputs);
}

// ---- big words ----

void Context::on_big_word(const BigWord& word, void (*expand)(void*), void* context) {
  if (busy_ > 0 || is_expanding_) return expand(context);
  const Lock lock(*this);
  const SiteKey site = site_key(word.site);
  const auto run_now = [&] {
    const Busy busy(busy_);
    expand(context);
  };
  if (state_ == State::kReplaying) {
    Reason why = Reason::kForced;
    if (!is_forced_out() && replay_->match(word, site, why)) {
      if (word.ends_step && replay_->is_complete() && !commit_complete(1)) {
        run_now();
        throw_if_strict();
      }
      return;
    }
    if (state_ == State::kReplaying) {
      end_run(why);
    }
  }
  const std::uint64_t hash = hash_word(word, site);
  if (state_ == State::kRecording && recorder_->words() >= recorded_plan_->length)
    finish_recording();
  if (state_ == State::kWatching && may_have_segment(hash) &&
      start_replay(hash, word, site, nullptr)) {
    if (word.ends_step && replay_->is_complete() && !commit_complete(1)) run_now();
    return;
  }
  if (state_ == State::kWatching) {
    const Discovery::Plan* const plan = discovery_.plan(hash);
    if (plan && wants_segment(hash)) start_recording(*plan);
  }
  if (state_ == State::kRecording) {
    recorder_->open_expansion(word, site);
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
    recorder_->close_expansion(nullptr, nullptr);
    recorded_hash_ = mix(recorded_hash_, hash);
    if (recorder_->failure())
      abandon_recording();
    else if (word.ends_step)
      finish_recording();
    return;
  }
  run_now();
  discovery_.on_word(hash);
  if (word.ends_step) discovery_.on_step_end();
  throw_if_strict();
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
        const Discovery::Kind kind = kinds_[&replay_->segment()];
        commit_complete(0);
        if (kind == Discovery::Kind::kStep) discovery_.on_host_read();
      } else if (is_owed) {
        on_materialize(impl);
      }
      break;
    }
    case State::kRecording:
      if (recorded_plan_->kind != Discovery::Kind::kStep &&
          recorder_->words() >= recorded_plan_->length) {
        finish_recording();
      } else {
        recorder_->host_read(impl);
        if (recorder_->failure()) abandon_recording();
      }
      break;
    default:
      discovery_.on_host_read();
  }
}

void Context::on_materialize(TensorImpl& impl) {
  const Lock lock(*this);
  if (state_ != State::kReplaying) return;
  if (replay_->is_complete()) {
    commit_complete(0);
  } else {
    const Busy busy(busy_);
    if (impl.trace_session == replay_->session() && impl.is_pending && replay_->run_stage_for(impl))
      return;
    leave(Reason::kHostRead, 0);
  }
}

void Context::on_host_access(TensorImpl& impl) {
  if (busy_ > 0 || is_expanding_) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying && impl.is_pending) flush(Reason::kHostAccess);
}

// From now on the program may write this memory behind our back, while words that read it wait.
void Context::on_expose(TensorImpl& impl) {
  if (busy_ > 0) return;
  const Lock lock(*this);
  if (state_ == State::kRecording) recorder_->expose(impl);
  Reason why = Reason::kExposed;
  if (state_ == State::kReplaying && !replay_->expose(*impl.storage, why)) flush(why);
}

// Flags and `.grad` of a tensor that words have used already: later words would mean something else
// than in the recording.
void Context::on_metadata_change(TensorImpl& impl) {
  if (busy_ > 0) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying && (impl.is_pending || replay_->is_bound(impl))) {
    flush(Reason::kHostAccess);
  } else if (state_ == State::kRecording && impl.trace_session == recorder_->session()) {
    if (!is_expanding_ && recorder_->words() >= recorded_plan_->length) return finish_recording();
    recorder_->fail(Reason::kHostAccess);
    if (!is_expanding_) abandon_recording();
  }
}

void Context::on_copy(const Tensor& original, const Tensor& copy) {
  if (state_ == State::kRecording) recorder_->note_copy(original, copy);
}

void Context::on_set_grad(TensorImpl& leaf, const Tensor& grad) {
  if (is_expanding_ && busy_ == 0) {
    recorder_->set_grad(leaf, grad);
  } else if (busy_ == 0) {
    flush(Reason::kHostAccess);
  }
}

void Context::on_number_read(int origin) {
  if (state_ == State::kRecording) recorder_->number_was_read(origin);
}

void Context::flush(Reason reason) {
  const Lock lock(*this);
  if (state_ == State::kReplaying) {
    end_run(reason);
  } else if (state_ == State::kRecording) {
    recorder_->fail(reason);
    abandon_recording();
  }
}

void Context::forget() {
  flush(Reason::kModeChange);
  replays_.clear();
  kinds_.clear();
  discovery_.clear();
  discovery_.set_hot(hot_repeats());
}

}  // namespace groove::tracer
