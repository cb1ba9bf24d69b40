// The way of an ordinary call through a replay, in one file so that it becomes one function: the
// context's lock, the comparison with the one expected call, the handle of the last iteration.
#include <cstring>

#include "src/core/state.h"
#include "tracer/context.h"
#include "tracer/coverage.h"
#include "tracer/modes.h"
#include "tracer/numbers.h"

namespace groove::tracer {
namespace {

bool is_same_place(const ExpectedCall& expected, const SiteKey& site) {
  return expected.file == site.file && expected.line == site.line &&
         expected.column == site.column && expected.ordinal == site.ordinal;
}

}  // namespace

// Gives the handle of the last iteration again, when it is as it was made and only this replay has
// it; otherwise handle() makes one.
inline void Replay::hand_out_again(SlotId id, Tensor& output) {
  Live& live = live_[static_cast<std::size_t>(id)];
  TensorImpl* const impl = live.impl.get();
  if (!impl || impl->use_count() != 1 || impl->metadata_epoch != live.epoch || impl->autograd) {
    output = Tensor(&handle(id));
    return;
  }
  impl->requires_grad = live.requires_grad;
  impl->trace_session = session_;
  impl->trace_id = id;
  impl->is_pending = true;
  live.object = impl;
  live.run = run_;
  live.is_filled = false;
  live.is_exposed = false;
  live.snapshot.clear();
  // Nothing on the tape knows it, so no reference to it can appear meanwhile.
  impl->retain_from_only_owner();
  output = Tensor(groove::detail::RefPtr<TensorImpl>::adopt(impl));
}

inline bool Replay::match_plainly(const Call& call, const SiteKey& site, Tensor* outputs) {
  if (matched_ == expected_.calls.size() || has_exposed_) return false;
  const ExpectedCall& expected = expected_.calls[matched_];
  const auto& attrs = call.attrs->words();
  if (expected.op != call.op || !is_same_place(expected, site) || call.is_inplace ||
      expected.inputs != call.inputs.size() || expected.numbers != call.numbers.size() ||
      expected.attr_count != attrs.size() || expected.grad_enabled != grad_enabled() ||
      (expected.attr_count > 0 &&
       std::memcmp(expected.attrs, attrs.data(), attrs.size() * sizeof(std::int64_t)) != 0))
    return false;
  const SlotId* slot = expected_.slots.data() + expected.slots;
  const Live* const lives = live_.data();
  const std::uint64_t run = run_;
  for (const Tensor& input : call.inputs) {
    const SlotId id = *slot++;
    const Live& live = lives[id];
    if (live.run == run) [[likely]] {
      if (live.object != input.impl()) return false;
    } else {
      Reason why = Reason::kMismatchOperand;
      if (!live.is_live_in || !input.defined() || !bind(id, *input.impl(), why) || has_exposed_)
        return false;
    }
  }
  for (std::size_t i = 0; i < expected.numbers; ++i)
    if (call.numbers[i].type() != expected.number_kinds[i]) return false;
  std::uint64_t* scalar = scalars_.data() + expected.first_number;
  for (const Scalar& number : call.numbers) *scalar++ = word_of(number);
  for (std::size_t k = 0; k < expected.outputs; ++k) hand_out_again(*slot++, outputs[k]);
  tape_nodes_ += expected.tape_nodes;
  ++matched_;
  return true;
}

inline bool Context::match_plainly(const Call& call, const SiteKey& site, Tensor* outputs) {
  struct Hold {
    std::atomic<const void*>& holder;
    ~Hold() { holder.store(nullptr, std::memory_order_release); }
  };
  const void* nobody = nullptr;
  if (!holder_.compare_exchange_strong(nobody, &busy_, std::memory_order_acquire)) return false;
  const Hold hold{holder_};
  return state_ == State::kReplaying && !is_forced_out() &&
         replay_->match_plainly(call, site, outputs);
}

inline void Context::on_call(const Call& call, Tensor* outputs) {
  if (busy_ > 0) return run_eager(call, outputs);
  if (is_expanding_) return call_in_expansion(call, outputs);
  const SiteKey site = site_key(call.site);
  if (state_ == State::kReplaying && match_plainly(call, site, outputs)) [[likely]]
    return;
  after_match(call, site, outputs);
}

void handle_call(const Call& call, Tensor* outputs) {
  Context* const context = active_context();
  if (context) [[likely]]
    return context->on_call(call, outputs);
  settle(call.inputs);
  // Loader workers and the like are not the program's loop.
  if (groove::detail::is_untraced()) return dispatch_below(DispatchLayer::kTracer, call, outputs);
  run_eager(call, outputs);
}

}  // namespace groove::tracer
