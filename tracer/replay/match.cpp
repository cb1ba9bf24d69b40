// Replay, the matching half: one expected call, one comparison of everything that makes it.
#include <algorithm>
#include <cstring>
#include <optional>

#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/geometry.h"
#include "src/core/gradient_lock.h"
#include "tracer/calls/numbers.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/replay/replay.h"
#include "tracer/thread/modes.h"
#include "tracer/thread/threads.h"

namespace groove::tracer {
namespace {

bool same_head(const RecordedCall& call, const Op* op, const SiteKey& site, const Attrs& attrs,
               std::size_t inputs, std::size_t numbers, Reason& why) {
  if (call.op != op && !has_fault(Fault::kOpNotGuarded))
    why = Reason::kMismatchOp;
  else if (!(call.site == site))
    why = Reason::kMismatchSite;
  else if (!(call.attrs == attrs) && !has_fault(Fault::kAttributeNotGuarded))
    why = Reason::kMismatchAttribute;
  else if (call.inputs.size() != inputs)
    why = Reason::kMismatchOperand;
  else if (call.number_kinds.size() != numbers)
    why = Reason::kMismatchNumber;
  else if (call.grad_enabled != grad_enabled() && !has_fault(Fault::kGradModeNotGuarded))
    why = Reason::kMismatchGradMode;
  else
    return true;
  return false;
}

}  // namespace

Replay::OtherOperand Replay::other_operand(const Call& call) const {
  if (is_complete()) return OtherOperand::kNone;
  const RecordedCall& expected = segment_->calls[matched_];
  if (expected.is_library_call || expected.inputs.size() != call.inputs.size() || is_on_tape(call))
    return OtherOperand::kNone;
  OtherOperand all = OtherOperand::kNone;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    const SlotId id = expected.inputs[k];
    const Tensor& input = call.inputs[k];
    if (id == kNoSlot || !input.defined()) {
      if ((id == kNoSlot) == !input.defined()) continue;
      return OtherOperand::kNone;
    }
    const Live& live = live_[static_cast<std::size_t>(id)];
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    const TensorImpl& impl = *input.impl();
    const bool is_made = impl.is_pending || makes(impl);
    if (live.run == run_ ? live.object == &impl : slot.is_live_in && !is_made) continue;
    if (slot.requires_grad || slot.hooks != 0 || !slot.is_leaf || impl.requires_grad ||
        impl.dtype != slot.type.dtype || impl.geometry.sizes != slot.type.sizes ||
        segment_->storages[static_cast<std::size_t>(slot.storage)].writes > 0)
      return OtherOperand::kNone;
    if (is_made || !slot.is_live_in)
      all = OtherOperand::kMade;
    else if (expected.takes_any_operands)
      return OtherOperand::kNone;
    else if (all == OtherOperand::kNone)
      all = OtherOperand::kExisted;
  }
  // Where there are a few ways they are paths; where one of many is taken there are very many.
  constexpr std::ptrdiff_t kMany = 4;
  const auto is_of_line = [line = line_of(*expected.op, expected.site)](const RecordedCall& each) {
    return line_of(*each.op, each.site) == line;
  };
  const bool is_one_of_many =
      all != OtherOperand::kMade ||
      std::count_if(segment_->calls.begin(), segment_->calls.end(), is_of_line) >= kMany;
  return is_one_of_many ? all : OtherOperand::kNone;
}

bool Replay::match_operand(SlotId id, const Tensor& tensor, Reason& why) {
  if (id == kNoSlot || !tensor.defined()) {
    if ((id == kNoSlot) == !tensor.defined()) return true;
    why = Reason::kMismatchOperand;
    return false;
  }
  Live& live = live_[static_cast<std::size_t>(id)];
  if (live.run == run_) {
    if (live.object != tensor.impl() && !has_fault(Fault::kOperandNotGuarded)) {
      why = Reason::kMismatchOperand;
      return false;
    }
    if (live.is_exposed && !snapshot_is_current(memory_of(id))) [[unlikely]] {
      why = Reason::kExposed;
      return false;
    }
    return true;
  }
  if (!segment_->slots[static_cast<std::size_t>(id)].is_live_in) {
    why = Reason::kMismatchOperand;
    return false;
  }
  return bind(id, *tensor.impl(), why);
}

bool Replay::bind_nested(const RecordedCall& call, ArrayRef<TensorImpl*> walked, Reason& why) {
  for (std::size_t k = 0; k < call.nested_live_ins.size(); ++k) {
    const SlotId id = call.nested_live_ins[k];
    const std::int32_t place = call.nested_places[k];
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    const Live& live = live_[static_cast<std::size_t>(id)];
    TensorImpl* object = nullptr;
    if (place >= 0) {
      object = walked[static_cast<std::size_t>(place)];
      if (has_fault(Fault::kStateNotCompared) && live.object && !slot.requires_grad)
        object = live.object;
    } else if (slot.same_as != kNoSlot) {
      const Live& saved = live_[static_cast<std::size_t>(slot.same_as)];
      object = saved.run == run_ ? saved.object : nullptr;
    } else if (slot.grad_of != kNoSlot) {
      const Live& leaf = live_[static_cast<std::size_t>(slot.grad_of)];
      const AutogradMeta* meta = nullptr;
      if (leaf.run == run_) meta = leaf.object->autograd;
      object = meta ? meta->grad.impl() : nullptr;
    }
    if (!object) {
      why = Reason::kMismatchState;
      return false;
    }
    if (live.run == run_) {
      if (live.object == object) continue;
      why = Reason::kMismatchOperand;
      return false;
    }
    if (!bind(id, *object, why)) return false;
  }
  return true;
}

bool Replay::numbers_match(const RecordedCall& call, ArrayRef<Scalar> numbers, Reason& why) const {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i].type() != call.number_kinds[i]) {
      why = Reason::kMismatchNumber;
      return false;
    }
  for (const auto& [index, bits] : call.fixed_numbers)
    if (number_bits(numbers[static_cast<std::size_t>(index)]) != bits &&
        !has_fault(Fault::kFixedNumberNotGuarded)) {
      why = call.has_settled_position ? Reason::kMoved : Reason::kMismatchNumber;
      return false;
    }
  return true;
}

void Replay::take_numbers(const RecordedCall& call, ArrayRef<Scalar> numbers) {
  std::uint64_t* to = scalars_.data() + call.first_number;
  if (has_fault(Fault::kFrozenNumber) && *to != 0) return;
  for (const Scalar& number : numbers) *to++ = number_bits(number);
}

// ---- pending handles ----

// The history of a result of a run, which has none as long as the run is under way.
const TapeNodePtr& Replay::released_node() {
  if (!released_node_ && tape_hooks().make_released_node)
    released_node_ = tape_hooks().make_released_node();
  return released_node_;
}

// The handle a call hands out for a result: the one of the last iteration when nobody else holds
// it, with everything the user may have set on it put back.
TensorImpl& Replay::handle(SlotId id) {
  Live& live = live_[static_cast<std::size_t>(id)];
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  const TapeNodePtr history = slot.is_leaf ? TapeNodePtr() : released_node();
  // A stage that ran before has its memory, and nobody has seen it.
  const bool is_made_for_run = live.run == run_ && live.impl;
  const bool is_free =
      live.impl && (live.impl->use_count() == 1 || has_fault(Fault::kSharedHandle));
  if (is_free) take_back_history(live);
  const bool is_reusable =
      is_free && live.impl->metadata_epoch == live.epoch &&
      (!live.impl->autograd ||
       (!live.impl->autograd->grad.defined() && !live.impl->autograd->retains_grad &&
        (live.impl->autograd->hooks_ever == 0 || live.impl->autograd->grad_fn) &&
        (live.impl->autograd->grad_fn.get() == history.get() ||
         live.impl->autograd->grad_fn.get() == released_node_.get())));
  if (!is_reusable && !is_made_for_run) {
    // The program's alone from now on.
    if (live.impl && !live.impl->is_pending && live.impl->trace_session == session_)
      forget_session(*live.impl);
    Geometry geometry{slot.type.sizes, slot.strides, 0};
    live.impl = make_impl(StoragePtr(), std::move(geometry), slot.type.dtype);
    begin_as_new(live, slot);
  }
  // Anew for every run: a recording may have marked the tensor as its own meanwhile.
  live.impl->requires_grad = slot.requires_grad;
  if (AutogradMeta* const meta = live.impl->autograd) {
    meta->grad_fn = history;
    meta->hooks = meta->hooks_ever = 0;
  }
  live.impl->trace_session = session_;
  live.impl->trace_id = id;
  TensorImpl& impl = *live.impl;
  impl.is_pending = true;
  live.object = &impl;
  live.run = run_;
  live.is_filled = false;
  live.is_exposed =
      slot.parent != kNoSlot && live_[static_cast<std::size_t>(slot.parent)].is_exposed;
  live.snapshot.clear();
  return impl;
}

// What a handle has from the start; the rest is set anew for each run.
void Replay::begin_as_new(Live& live, const Slot& slot) {
  TensorImpl& impl = *live.impl;
  if (!slot.is_leaf) autograd_meta(impl).grad_fn = released_node();
  impl.counts_apart = slot.counts_apart;
  live.epoch = impl.metadata_epoch;
}

// What became of a result that ran eagerly goes, if nobody else has it, and the handle is as new.
bool Replay::renew(Live& live, const Slot& slot) {
  TensorImpl& impl = *live.impl;
  const auto& [sizes, strides, offset] = impl.geometry;
  if (impl.use_count() > 1 || impl.dtype != slot.type.dtype || sizes != slot.type.sizes ||
      strides != slot.strides || offset != 0)
    return false;
  // First the history: its node may save this result, and keeps the memory then.
  if (impl.autograd) destroy_autograd_meta(impl.autograd);
  impl.autograd = nullptr;
  impl.storage.reset();
  begin_as_new(live, slot);
  return true;
}

void Replay::hand_out(const RecordedCall& call, std::size_t k, Tensor& output) {
  const SlotId id = call.outputs[k];
  if (id == kNoSlot) return;
  output = Tensor(call.output_is_new[k] ? &handle(id) : live_[static_cast<std::size_t>(id)].object);
}

TensorImpl& Replay::existing_handle(SlotId id) {
  Live& live = live_[static_cast<std::size_t>(id)];
  if (live.run != run_) return handle(id);
  return *live.object;
}

// Would the call write memory that foreign code may look at as soon as the call is over? Only as
// the last of its segment, which is committed at once.
bool Replay::must_not_wait(const RecordedCall& call, Reason& why) {
  const bool is_exposed =
      std::any_of(call.written_live_ins.begin(), call.written_live_ins.end(), [this](SlotId id) {
        return live_[static_cast<std::size_t>(id)].object->storage->flags & Storage::kExposed;
      });
  const bool is_last = matched_ + 1 == segment_->calls.size();
  if (is_exposed && !is_last) why = Reason::kExposedWrite;
  commits_now_ = is_exposed && is_last;
  return is_exposed && !is_last;
}

// Must not hold, or what the call does is an error in eager mode: it reads what it writes, shifted.
bool Replay::reads_what_it_writes(const RecordedCall& call) const {
  for (const auto& [written, read] : call.apart)
    if (overlap_partly(geometry_of(written), geometry_of(read))) return true;
  // Inputs that were in different memory when the call was recorded.
  for (const SlotId base : call.written_live_ins)
    for (const SlotId id : call.inputs) {
      if (id == kNoSlot) continue;
      const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
      if (slot.is_live_in &&
          slot.storage != segment_->slots[static_cast<std::size_t>(base)].storage &&
          live_[static_cast<std::size_t>(id)].object->storage ==
              live_[static_cast<std::size_t>(base)].object->storage)
        return true;
    }
  return false;
}

// Memory of live-ins that the call writes is behind the program from now on, unless another thread
// owes it or has it to read yet.
bool Replay::owe(const RecordedCall& call, Reason& why) {
  for (const SlotId id : call.written_live_ins) {
    TensorImpl& impl = *live_[static_cast<std::size_t>(id)].object;
    Storage& storage = *impl.storage;
    const bool is_owed_elsewhere =
        storage.flags & Storage::kNotThere && !have_one_owner(storage.trace_session, session_);
    if (is_owed_elsewhere || storage.readers & ~reader_) {
      foreign_ = detail::RefPtr<TensorImpl>(&impl);
      why = Reason::kThread;
      return false;
    }
    if (!moved_.empty() && !has_fault(Fault::kAliasNotChecked) && has_another_name(id)) {
      why = Reason::kLiveInAlias;
      return false;
    }
    storage.trace_session = session_;
    storage.trace_index = segment_->slots[static_cast<std::size_t>(id)].storage;
    storage.flags |= Storage::kOwed;
  }
  return true;
}

// Of several threads that add to one gradient at once, one takes it and the others wait for its
// run.
bool Replay::take_effect(const RecordedCall& call, Reason& why) {
  std::optional<GradientLock> lock;
  if (!call.written_live_ins.empty() || !call.effects.empty()) lock.emplace();
  if (TensorImpl* const leaf = changed_elsewhere(call)) {
    foreign_ = detail::RefPtr<TensorImpl>(leaf);
    why = Reason::kThread;
    return commits_now_ = false;
  }
  const bool is_free = gradients_hold(call, why) && owe(call, why);
  if (is_free) apply_effects(call);
  commits_now_ = commits_now_ && is_free;
  return is_free;
}

// ---- calls ----

bool Replay::match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why) {
  if (is_complete()) {
    why = Reason::kMismatchOp;
    return false;
  }
  const RecordedCall& recorded = segment_->calls[matched_];
  if (!same_head(recorded, call.op, site, *call.attrs, call.inputs.size(), call.numbers.size(),
                 why))
    return false;
  if (recorded.is_inplace != call.is_inplace || recorded.is_library_call) {
    why = Reason::kMismatchOp;
    return false;
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (!match_operand(recorded.inputs[i], call.inputs[i], why)) return false;
  if (!call.numbers.empty() && !numbers_match(recorded, call.numbers, why)) return false;
  if (!recorded.nested_live_ins.empty() && !bind_nested(recorded, {}, why)) return false;
  if (recorded.is_inplace && reads_what_it_writes(recorded)) {
    why = Reason::kLiveInAlias;
    return false;
  }
  if (!recorded.written_live_ins.empty() && must_not_wait(recorded, why)) return false;
  // When what the check reads was not known, the run was left.
  if (call.op->check && !has_fault(Fault::kStaleValueCheck) && !check_values(call, recorded))
      [[unlikely]]
    return false;
  if (!recorded.written_live_ins.empty() && !take_effect(recorded, why)) return false;
  take_numbers(recorded, call.numbers);
  for (std::size_t k = 0; k < recorded.outputs.size(); ++k) hand_out(recorded, k, outputs[k]);
  expected_.calls[matched_].source = record_of(user_site(call.site));
  tape_nodes_ += recorded.tape_nodes;
  ++matched_;
  return true;
}

bool Replay::match(const LibraryCall& big, const SiteKey& site, Reason& why) {
  if (is_complete()) {
    why = Reason::kMismatchOp;
    return false;
  }
  const RecordedCall& call = segment_->calls[matched_];
  if (!same_head(call, big.op, site, *big.attrs, big.inputs.size(), big.numbers.size(), why))
    return false;
  const auto is_twin = [&](const std::pair<std::int32_t, std::int32_t>& places) {
    return big.walked[static_cast<std::size_t>(places.first)] ==
           big.walked[static_cast<std::size_t>(places.second)];
  };
  if (!call.is_library_call || call.walked != big.walked.size() ||
      call.structure != big.structure ||
      !std::all_of(call.twins.begin(), call.twins.end(), is_twin)) {
    why = Reason::kMismatchState;
    return false;
  }
  for (const auto& [place, slot] : call.walked_results) {
    const Live& live = live_[static_cast<std::size_t>(slot)];
    if (live.run == run_ && live.object == big.walked[static_cast<std::size_t>(place)]) continue;
    why = Reason::kMismatchOperand;
    return false;
  }
  for (std::size_t i = 0; i < big.inputs.size(); ++i)
    if (!match_operand(call.inputs[i], big.inputs[i], why)) return false;
  if (!numbers_match(call, big.numbers, why) || !bind_nested(call, big.walked, why) ||
      !flags_hold(call, why) || must_not_wait(call, why))
    return false;
  // What a library call reads of exposed memory it reads now.
  for (const SlotId id : call.read_live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.is_exposed && !snapshot_is_current(live)) {
      why = Reason::kExposed;
      return false;
    }
  }
  if (!take_effect(call, why)) return false;
  take_numbers(call, big.numbers);
  const bool stops = call.stops_at >= 0 || call.stops_at_hook.leaf != kNoSlot;
  if (big.results && !stops) {
    big.results->assign(call.outputs.size(), Tensor());
    for (std::size_t k = 0; k < call.outputs.size(); ++k) hand_out(call, k, (*big.results)[k]);
  }
  follow_code(call, big);
  tape_nodes_ += call.tape_nodes;
  ++matched_;
  return true;
}

}  // namespace groove::tracer
