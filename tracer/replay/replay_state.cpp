// Replay, about what is no value: the gradients that library calls walk and leave.
#include "src/core/check.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/replay/replay.h"

namespace groove::tracer {
namespace {

TensorImpl* gradient_of(const TensorImpl& leaf) {
  return leaf.autograd ? leaf.autograd->grad.impl() : nullptr;
}

// Does the backward that has stopped last go on, or never?
bool ends_walk(const RecordedCall& call) {
  return call.code_role == CodeRole::kResumes || call.code_role == CodeRole::kAbandons;
}

void set_gradient(TensorImpl& leaf, Tensor grad) {
  if (leaf.autograd || grad.defined()) autograd_meta(leaf).grad = std::move(grad);
}

}  // namespace

// A leaf whose gradient another thread's run has changed, and may take back.
TensorImpl* Replay::changed_elsewhere(const RecordedCall& call) const {
  const auto changed = [&](const LeafGrad& known) -> TensorImpl* {
    TensorImpl& leaf = *live_[static_cast<std::size_t>(known.leaf)].object;
    const std::uint64_t by = leaf.autograd ? leaf.autograd->changed_by.get() : 0;
    return by != 0 && !have_one_owner(by, session_) ? &leaf : nullptr;
  };
  for (const std::vector<LeafGrad>* const all : {&call.grads_before, &call.effects})
    for (const LeafGrad& known : *all)
      if (TensorImpl* const leaf = changed(known)) return leaf;
  return nullptr;
}

// Are the gradients that this call walks the ones that it walked in the recording?
bool Replay::gradients_hold(const RecordedCall& call, Reason& why) const {
  for (const LeafGrad& known : call.grads_before) {
    const TensorImpl& leaf = *live_[static_cast<std::size_t>(known.leaf)].object;
    const TensorImpl* const expected =
        known.grad == kNoSlot ? nullptr : live_[static_cast<std::size_t>(known.grad)].object;
    if (gradient_of(leaf) == expected) continue;
    why = Reason::kMismatchState;
    return false;
  }
  return true;
}

bool Replay::flags_hold(const RecordedCall& call, Reason& why) const {
  for (const FlagEffect& flag : call.flags) {
    if (live_[static_cast<std::size_t>(flag.slot)].object->requires_grad == flag.before) continue;
    why = Reason::kMismatchState;
    return false;
  }
  return true;
}

// Before it: who sees the change sees whose it is.
void Replay::note_change(TensorImpl& leaf, bool is_of_flags) {
  AutogradMeta& meta = autograd_meta(leaf);
  if (is_of_flags) meta.has_changed_flags = true;
  meta.changed_by = session_;
}

void Replay::apply_effects(const RecordedCall& call) {
  for (const FlagEffect& flag : call.flags) {
    TensorImpl& impl = *live_[static_cast<std::size_t>(flag.slot)].object;
    note_change(impl, true);
    impl.requires_grad = flag.after;
    if (flag.gets_history) autograd_meta(impl).grad_fn = released_node();
  }
  for (const LeafGrad& effect : call.effects) {
    TensorImpl& leaf = *live_[static_cast<std::size_t>(effect.leaf)].object;
    note_change(leaf, false);
    set_gradient(leaf, effect.grad == kNoSlot ? Tensor() : Tensor(&existing_handle(effect.grad)));
  }
}

bool Replay::has_changed(const TensorImpl& leaf) const {
  const auto is_it = [&](SlotId id) { return live_[static_cast<std::size_t>(id)].object == &leaf; };
  for (std::size_t w = 0; w < matched_; ++w) {
    const RecordedCall& call = segment_->calls[w];
    if (std::any_of(call.effects.begin(), call.effects.end(),
                    [&](const LeafGrad& effect) { return is_it(effect.leaf); }) ||
        std::any_of(call.flags.begin(), call.flags.end(),
                    [&](const FlagEffect& flag) { return is_it(flag.slot); }) ||
        (changes_hooks(call) && is_it(call.inputs[0])))
      return true;
  }
  return false;
}

// ---- user code in a backward ----

// The call has matched: what user code it brings, or stops at. Scripts are the backwards under way
// that have stopped, the innermost last.
void Replay::follow_code(const RecordedCall& call, const LibraryCall& big) {
  switch (call.code_role) {
    case CodeRole::kNone:
      return;
    case CodeRole::kAttaches:
      code_.emplace_back(matched_, TapeNodePtr(big.user_code));
      break;
    case CodeRole::kHangs:
    case CodeRole::kTakesOff:
      code_.emplace_back(matched_, TapeNodePtr(big.user_code));
      note_change(*big.inputs[0].impl(), true);
      tape_hooks().change_hooks(*big.inputs[0].impl(), call.code_role, code_.back().second, false);
      break;
    case CodeRole::kWalks:
      break;
    case CodeRole::kResumes:
      if (call.releases_code) tape_hooks().release(*big.user_code);
      [[fallthrough]];
    case CodeRole::kAbandons:
      scripts_.pop_back();
  }
  const LeafHook& hook = call.stops_at_hook;
  if (call.stops_at < 0 && hook.leaf == kNoSlot) return;
  auto script = std::make_shared<Script>();
  if (hook.leaf != kNoSlot)
    script->user_code =
        tape_hooks().hook_at(*live_[static_cast<std::size_t>(hook.leaf)].object, hook.index);
  for (const auto& [at, code] : code_)
    if (static_cast<std::int32_t>(at) == call.stops_at) script->user_code = code;
  GROOVE_ASSERT(script->user_code);
  script->arguments.resize(call.outputs.size());
  for (std::size_t k = 0; k < call.outputs.size(); ++k) hand_out(call, k, script->arguments[k]);
  scripts_.push_back(script);
  *big.script = std::move(script);
}

// Where the backward that this call goes on with stopped when the calls ran again.
std::shared_ptr<Script> Replay::script_of_rerun(std::size_t w) const {
  return ends_walk(segment_->calls[w]) ? rerun_scripts_.back() : nullptr;
}

void Replay::stop_rerun(const RecordedCall& call, std::shared_ptr<Script> script) {
  if (ends_walk(call)) rerun_scripts_.pop_back();
  if (!script || call.code_role == CodeRole::kAbandons) return;
  for (std::size_t k = 0; k < call.outputs.size(); ++k)
    script->arguments[k] = operand(call.outputs[k]);
  rerun_scripts_.push_back(std::move(script));
}

// User code that was called by a replay and has not come back yet: the backward then goes on from
// where running the calls again has brought it.
void Replay::hand_over_walks() {
  GROOVE_ASSERT(scripts_.size() == rerun_scripts_.size());
  for (std::size_t i = 0; i < scripts_.size(); ++i) *scripts_[i] = *rerun_scripts_[i];
  rerun_scripts_.clear();
}

// Flags and hooks as they were before the first matched call.
void Replay::restore_flags() {
  for (auto at = code_.rbegin(); at != code_.rend(); ++at) {
    const RecordedCall& call = segment_->calls[at->first];
    if (changes_hooks(call))
      tape_hooks().change_hooks(*live_[static_cast<std::size_t>(call.inputs[0])].object,
                                call.code_role, at->second, true);
  }
  for (std::size_t w = matched_; w-- > 0;)
    for (const FlagEffect& flag : segment_->calls[w].flags)
      live_[static_cast<std::size_t>(flag.slot)].object->requires_grad = flag.before;
}

// Before a call runs again: the gradients it walks are what they were at its call.
void Replay::restore_gradients(const RecordedCall& call) {
  for (const LeafGrad& known : call.grads_before)
    set_gradient(*live_[static_cast<std::size_t>(known.leaf)].object, operand(known.grad));
}

// The gradients that the program itself has put where matched calls left others: running those
// calls again must not undo that.
std::vector<std::pair<TensorImpl*, Tensor>> Replay::gradients_set_by_hand(std::size_t count) const {
  std::vector<std::pair<TensorImpl*, Tensor>> by_hand;
  std::vector<const LeafGrad*> last;  // [slot]
  std::vector<SlotId> leaves;
  const auto note = [&](const LeafGrad& known) {
    if (last.empty()) last.resize(segment_->slots.size());
    const LeafGrad*& at = last[static_cast<std::size_t>(known.leaf)];
    if (!at) leaves.push_back(known.leaf);
    at = &known;
  };
  for (std::size_t w = 0; w < count; ++w) {
    for (const LeafGrad& known : segment_->calls[w].grads_before) note(known);
    for (const LeafGrad& effect : segment_->calls[w].effects) note(effect);
  }
  for (const SlotId leaf : leaves) {
    TensorImpl& impl = *live_[static_cast<std::size_t>(leaf)].object;
    const SlotId grad = last[static_cast<std::size_t>(leaf)]->grad;
    const TensorImpl* const expected =
        grad == kNoSlot ? nullptr : live_[static_cast<std::size_t>(grad)].object;
    if (gradient_of(impl) != expected)
      by_hand.emplace_back(&impl, impl.autograd ? impl.autograd->grad : Tensor());
  }
  return by_hand;
}

void Replay::put_back(std::vector<std::pair<TensorImpl*, Tensor>>& by_hand) {
  for (auto& [leaf, grad] : by_hand) set_gradient(*leaf, std::move(grad));
}

}  // namespace groove::tracer
