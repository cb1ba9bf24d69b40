// Calls of functions that were given to jit::compile(): the program itself says where a stretch
// begins and ends, so nothing needs to be found. Inside a recording or a replay that is under way
// already, such a call is like any other code.
#include "groove/detail/compiled_call.h"

#include <atomic>
#include <exception>

#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kLongestCall = 20'000;  // calls
constexpr std::size_t kMostSignatures = 4096;

}  // namespace

void Context::begin_call(std::uint64_t key) {
  const Lock lock(*this);
  CallFrame frame{key, CallFrame::Stage::kInside};
  const bool is_free = busy_ == 0 && !is_expanding_ && state_ != State::kRecording &&
                       !(state_ == State::kReplaying && !replay_->is_complete());
  if (is_free) {
    if (calls_.size() > kMostSignatures) calls_.clear();
    CallCount& count = calls_[key];
    const std::uint64_t needed = times_needed(hot_repeats(), count.recordings);
    frame.stage = ++count.seen >= needed ? CallFrame::Stage::kWanted : CallFrame::Stage::kWatched;
  }
  frames_.push_back(frame);
}

void Context::end_call(bool is_thrown) {
  if (frames_.empty()) return;  // all was forgotten in the meantime
  const CallFrame frame = frames_.back();
  frames_.pop_back();
  if (frame.stage != CallFrame::Stage::kRecorded || state_ != State::kRecording ||
      recorded_plan_->kind != Discovery::Kind::kCall)
    return;
  if (is_thrown) {
    recorder_->fail(Reason::kException);
    abandon_recording();
  } else {
    finish_recording(true);
  }
}

// The first call of the outermost call that wants it.
bool Context::is_call_wanted() const {
  for (const CallFrame& frame : frames_)
    if (frame.stage == CallFrame::Stage::kWanted) return true;
  return false;
}

void Context::note_nested_call() {
  for (CallFrame& frame : frames_)
    if (frame.stage == CallFrame::Stage::kWanted) frame.stage = CallFrame::Stage::kWatched;
}

void Context::start_call_recording(std::uint64_t head) {
  Discovery::Plan plan;
  plan.head = head;
  plan.length = kLongestCall;
  plan.kind = Discovery::Kind::kCall;
  for (CallFrame& frame : frames_) {
    if (frame.stage != CallFrame::Stage::kWanted) continue;
    frame.stage = CallFrame::Stage::kRecorded;
    CallCount& count = calls_[frame.key];
    count.seen = 0;
    ++count.recordings;
    break;
  }
  note_nested_call();
  start_recording(plan);
}

}  // namespace groove::tracer

namespace groove::detail {

std::uint64_t add_to_signature(std::uint64_t hash, const Tensor& tensor) {
  if (!tensor.defined()) return mix_signature(hash, ~0ull);
  const TensorImpl& impl = *tensor.impl();
  hash =
      mix_signature(hash, static_cast<std::uint64_t>(impl.dtype) << 8 | impl.geometry.sizes.size());
  for (const std::int64_t size : impl.geometry.sizes)
    hash = mix_signature(hash, static_cast<std::uint64_t>(size));
  return hash;
}

std::uint64_t new_function_id() {
  static std::atomic<std::uint64_t> next{1};
  return mix_signature(next.fetch_add(1, std::memory_order_relaxed), 0);
}

CompiledCall::CompiledCall(std::uint64_t key)
    : context_(tracer::active_context()), exceptions_(std::uncaught_exceptions()) {
  if (context_) static_cast<tracer::Context*>(context_)->begin_call(key);
}

CompiledCall::~CompiledCall() {
  if (!context_) return;
  static_cast<tracer::Context*>(context_)->end_call(std::uncaught_exceptions() > exceptions_);
}

}  // namespace groove::detail
