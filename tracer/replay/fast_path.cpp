// The way of an ordinary call through a replay, in one function that calls no other before it is
// done: the context's lock, the comparison with the one expected call, the handle of the last
// iteration. First all is looked at, then all is written; what is not plain goes the long way.
#include "src/core/autograd_meta.h"
#include "src/core/grad_mode.h"
#include "tracer/calls/numbers.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/thread/threads.h"

namespace groove::tracer {
namespace {

// Operands aside.
inline bool is_same_call(const ExpectedCall& expected, const Call& call) {
  const OpenSite& open = open_site;
  const Site& source = open.is_open ? open.site : call.site;
  const std::uint32_t ordinal = open.is_open ? open.ordinal + 1 : 0;
  const auto& attrs = call.attrs->words();
  if (expected.op != call.op || expected.source != record_of(source) ||
      expected.ordinal != ordinal || call.is_inplace || expected.inputs != call.inputs.size() ||
      expected.numbers != call.numbers.size() || expected.attr_count != attrs.size() ||
      expected.grad_enabled != groove::detail::is_grad_recorded)
    return false;
  for (std::size_t i = 0; i < expected.attr_count; ++i)
    if (expected.attrs[i] != attrs[i]) return false;
  for (std::size_t i = 0; i < expected.numbers; ++i)
    if (expected.number_kinds[i] != call.numbers[i].type()) return false;
  return true;
}

// Loader workers and the like are not the program's loop.
[[gnu::noinline]] void handle_other_call(const Call& call, Tensor* outputs) {
  Context* const context = active_context();
  if (context) [[likely]]
    return context->on_call(call, outputs);
  settle(call.inputs);
  if (groove::detail::is_untraced()) return dispatch_below(DispatchLayer::kTracer, call, outputs);
  run_eager(call, outputs);
}

}  // namespace

// ---- looking ----

inline bool Replay::knows_operands(const ExpectedCall& expected, const Call& call) const {
  const SlotId* slot = expected_.slots.data() + expected.slots;
  const Live* const lives = live_.data();
  for (const Tensor& input : call.inputs) {
    const Live& live = lives[*slot++];
    if (live.run != run_ || live.object != input.impl()) return false;
  }
  return true;
}

// The handle of the last iteration is as it was made, and only this replay has it.
inline bool Replay::is_reusable(const Live& live) const {
  const TensorImpl* const impl = live.impl.get();
  if (!impl || impl->use_count() != 1 || impl->metadata_epoch != live.epoch) return false;
  const AutogradMeta* const meta = impl->autograd;
  return !meta || (!meta->grad.defined() && !meta->retains_grad && meta->hooks_ever == 0 &&
                   (!meta->grad_fn || meta->grad_fn.get() == released_node_.get()));
}

inline bool Replay::can_hand_out_again(const ExpectedCall& expected, const Tensor* outputs) const {
  const SlotId* const slots = expected_.slots.data() + expected.slots + expected.inputs;
  for (std::size_t k = 0; k < expected.outputs; ++k)
    if (outputs[k].defined() || !is_reusable(live_[static_cast<std::size_t>(slots[k])]))
      return false;
  return true;
}

// Binds the operands that are used for the first time in this run.
inline bool Replay::meet_operands(const ExpectedCall& expected, const Call& call) {
  const SlotId* slot = expected_.slots.data() + expected.slots;
  for (const Tensor& input : call.inputs) {
    const SlotId id = *slot++;
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_) {
      if (live.object != input.impl()) return false;
      continue;
    }
    Reason why = Reason::kMismatchOperand;
    if (live.input < 0 || !input.defined() || !bind(id, *input.impl(), why) || has_exposed_)
      return false;
  }
  return true;
}

// ---- writing ----

inline void Replay::hand_out_again(SlotId id, Tensor& output) {
  Live& live = live_[static_cast<std::size_t>(id)];
  TensorImpl* const impl = live.impl.get();
  // Nothing on the tape knows it, so no reference to it can appear meanwhile.
  if (impl->autograd)
    impl->retain();
  else
    impl->retain_from_only_owner();
  new (&output) Tensor(groove::detail::RefPtr<TensorImpl>::adopt(impl));
  impl->requires_grad = live.requires_grad;
  impl->trace_session = session_;
  impl->trace_id = id;
  impl->is_pending = true;
  live.object = impl;
  live.run = run_;
  live.is_filled = false;
  live.is_exposed = false;
}

template <bool kAgain>
inline void Replay::take_call(const ExpectedCall& expected, Tensor* outputs) {
  const SlotId* const slots = expected_.slots.data() + expected.slots + expected.inputs;
  for (std::size_t k = 0; k < expected.outputs; ++k) {
    if (kAgain)
      hand_out_again(slots[k], outputs[k]);
    else
      outputs[k] = Tensor(&handle(slots[k]));
  }
  if (expected.ordinal > 0) open_site.ordinal = expected.ordinal;
  tape_nodes_ += expected.tape_nodes;
  ++matched_;
}

void Replay::take_numbers(const ExpectedCall& expected, const Call& call) {
  std::uint64_t* to = scalars_.data() + expected.first_number;
  for (const Scalar& number : call.numbers) *to++ = number_bits(number);
}

// ---- the way ----

// What is left of a call with numbers.
void Context::take_numbers_and_release(const ExpectedCall& expected, const Call& call) {
  replay_->take_numbers(expected, call);
  lock_.release();
}

// A call with operands or handles that this run, or any, does not know yet. Comes with the lock.
void Context::on_first_use(const Call& call, Tensor* outputs) {
  {
    struct Leave {
      OwnerLock& lock;
      ~Leave() { lock.release(); }
    } const at_end{lock_};
    const ExpectedCall& expected = replay_->expected();
    if (replay_->meet_operands(expected, call)) {
      if (replay_->can_hand_out_again(expected, outputs))
        replay_->take_call<true>(expected, outputs);
      else
        replay_->take_call<false>(expected, outputs);
      if (expected.numbers > 0) replay_->take_numbers(expected, call);
      return;
    }
  }
  on_call(call, outputs);
}

inline void Context::on_call_in_replay(const Call& call, Tensor* outputs) {
  if (busy_ > 0 || !lock_.try_enter()) return on_call(call, outputs);
  // Another thread may have ended the replay.
  if (state_ == State::kReplaying && !is_forced_out() && replay_->is_plain()) [[likely]] {
    const ExpectedCall& expected = replay_->expected();
    if (is_same_call(expected, call)) [[likely]] {
      if (expected.meets_live_in || !replay_->knows_operands(expected, call) ||
          !replay_->can_hand_out_again(expected, outputs))
        return on_first_use(call, outputs);
      replay_->take_call<true>(expected, outputs);
      if (expected.numbers > 0) return take_numbers_and_release(expected, call);
      return lock_.release();
    }
  }
  lock_.release();
  on_call(call, outputs);
}

void handle_call(const Call& call, Tensor* outputs) {
  Context* const context = known_context();
  if (!context || !is_surely_tracing()) [[unlikely]]
    return handle_other_call(call, outputs);
  if (context->state() == State::kReplaying) [[likely]]
    return context->on_call_in_replay(call, outputs);
  context->on_call(call, outputs);
}

}  // namespace groove::tracer
