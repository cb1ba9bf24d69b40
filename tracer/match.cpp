// Replay, the matching half: one expected word, one comparison of everything that makes it.
#include <algorithm>
#include <cstring>

#include "src/core/check.h"
#include "tracer/modes.h"
#include "tracer/numbers.h"
#include "tracer/replay.h"
#include "tracer/tape_hooks.h"
#include "tracer/threads.h"

namespace groove::tracer {
namespace {

// For a few numbers a loop is faster than memcmp().
bool is_equal(const Shape& a, const Shape& b) {
  std::size_t i = 0;
  if (a.size() != b.size()) return false;
  while (i < a.size() && a[i] == b[i]) ++i;
  return i == a.size();
}

bool same_head(const Word& word, const Op* op, const SiteKey& site, const Attrs& attrs,
               std::size_t inputs, std::size_t numbers, Reason& why) {
  if (word.op != op)
    why = Reason::kMismatchOp;
  else if (!(word.site == site))
    why = Reason::kMismatchSite;
  else if (!(word.attrs == attrs))
    why = Reason::kMismatchAttribute;
  else if (word.inputs.size() != inputs)
    why = Reason::kMismatchOperand;
  else if (word.number_kinds.size() != numbers)
    why = Reason::kMismatchNumber;
  else if (word.grad_enabled != grad_enabled())
    why = Reason::kMismatchGradMode;
  else
    return true;
  return false;
}

}  // namespace

bool Replay::snapshot_is_current(const Live& live) const {
  return live.snapshot.empty() ||
         std::memcmp(live.snapshot.data(), live.object->data(), live.snapshot.size()) == 0;
}

bool Replay::take_snapshot(SlotId id, TensorImpl& impl, Reason& why) {
  Live& live = live_[static_cast<std::size_t>(id)];
  const std::size_t bytes = span_bytes(impl);
  if (bytes > kSnapshotLimit) {
    why = Reason::kExposedLarge;
    return false;
  }
  const unsigned char* from = static_cast<const unsigned char*>(impl.data());
  live.snapshot.assign(from, from + bytes);
  live.is_exposed = has_exposed_ = true;
  return true;
}

// Binds a live-in for this run after checking everything the compiled code relies on.
bool Replay::bind(SlotId id, TensorImpl& impl, Reason& why) {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  Live& live = live_[static_cast<std::size_t>(id)];
  if (id == failing_live_in()) [[unlikely]] {
    why = Reason::kForced;
    return false;
  }
  if (is_owed_elsewhere(impl, session_)) [[unlikely]] {
    foreign_ = detail::RefPtr<TensorImpl>(&impl);
    why = Reason::kThread;
    return false;
  }
  if (has_stale_history(impl) && !derive_history(id, impl)) [[unlikely]] {
    why = Reason::kLiveInType;
    return false;
  }
  if ((impl.autograd ? impl.autograd->hooks : 0) != slot.hooks ||
      impl.requires_grad != slot.requires_grad) {
    why = Reason::kLiveInType;
    return false;
  }
  if (slot.recorded.defined()) {
    if (slot.recorded.impl() != &impl) {
      why = Reason::kMismatchOperand;
      return false;
    }
    if (impl.metadata_epoch != slot.recorded_epoch) {
      why = Reason::kLiveInType;
      return false;
    }
  } else {
    if (impl.is_pending) {
      why = Reason::kMismatchOperand;
      return false;
    }
    const bool is_leaf = !impl.autograd || !impl.autograd->grad_fn;
    if (impl.dtype != slot.type.dtype || !is_equal(impl.geometry.sizes, slot.type.sizes) ||
        !is_equal(impl.geometry.strides, slot.strides) ||
        is_leaf != slot.is_leaf) {
      why = Reason::kLiveInType;
      return false;
    }
    live.impl = groove::detail::RefPtr<TensorImpl>(&impl);
  }
  live.object = &impl;
  live.run = run_;
  live.is_exposed = false;
  live.bound_at = matched_;
  live.snapshot.clear();
  if (impl.storage->flags & (Storage::kExposed | Storage::kOwed)) [[unlikely]] {
    if (impl.storage->flags & Storage::kOwed) {  // written through an alias in this very run
      live.run = 0;
      why = Reason::kLiveInAlias;
      return false;
    }
    if (!take_snapshot(id, impl, why)) {
      live.run = 0;
      return false;
    }
  }
  return true;
}

// The live-in whose memory a slot shows: itself, or what it is a view of.
const Replay::Live& Replay::memory_of(SlotId id) const {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  return live_[static_cast<std::size_t>(
      slot.is_live_in ? id : segment_->storages[static_cast<std::size_t>(slot.storage)].base)];
}

bool Replay::expose(const Storage& storage, Reason& why) {
  bool is_live_in = false;
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || live.object->storage.get() != &storage) continue;
    is_live_in = true;
    if (!live.is_exposed && !take_snapshot(id, *live.object, why)) return false;
  }
  for (std::size_t id = 0; id < live_.size(); ++id) {
    Live& live = live_[id];
    const Slot& slot = segment_->slots[id];
    if (live.run != run_ || slot.is_live_in) continue;
    if (!is_live_in && live.object->storage.get() == &storage) return false;  // made in this run
    if (slot.parent != kNoSlot) live.is_exposed = memory_of(static_cast<SlotId>(id)).is_exposed;
  }
  return true;
}

bool Replay::is_bound(const TensorImpl& impl) const {
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.object == &impl) return true;
  }
  return false;
}

bool Replay::match_operand(SlotId id, const Tensor& tensor, Reason& why) {
  if (id == kNoSlot || !tensor.defined()) {
    if ((id == kNoSlot) == !tensor.defined()) return true;
    why = Reason::kMismatchOperand;
    return false;
  }
  Live& live = live_[static_cast<std::size_t>(id)];
  if (live.run == run_) {
    if (live.object != tensor.impl()) {
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

bool Replay::bind_recorded(SlotId id, Reason& why) {
  TensorImpl* const object = segment_->slots[static_cast<std::size_t>(id)].recorded.impl();
  if (object) return bind(id, *object, why);
  why = Reason::kMismatchState;
  return false;
}

bool Replay::bind_nested(const Word& word, Reason& why) {
  for (const SlotId id : word.nested_live_ins) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    const Live& live = live_[static_cast<std::size_t>(id)];
    TensorImpl* object = slot.recorded.impl();
    if (slot.grad_of != kNoSlot) {
      const Live& leaf = live_[static_cast<std::size_t>(slot.grad_of)];
      if (leaf.run != run_ && !bind_recorded(slot.grad_of, why)) return false;
      const AutogradMeta* meta = leaf.object->autograd;
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

bool Replay::numbers_match(const Word& word, ArrayRef<Scalar> numbers, Reason& why) const {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i].type() != word.number_kinds[i]) {
      why = Reason::kMismatchNumber;
      return false;
    }
  for (const auto& [index, bits] : word.fixed_numbers)
    if (word_of(numbers[static_cast<std::size_t>(index)]) != bits) {
      why = word.has_settled_position ? Reason::kMoved : Reason::kMismatchNumber;
      return false;
    }
  return true;
}

void Replay::take_numbers(const Word& word, ArrayRef<Scalar> numbers) {
  std::uint64_t* to = scalars_.data() + word.first_number;
  for (const Scalar& number : numbers) *to++ = word_of(number);
}

// ---- pending handles ----

// The handle a word hands out for a result: the one of the last iteration when nobody else holds
// it, with everything the user may have set on it put back.
TensorImpl& Replay::handle(SlotId id) {
  Live& live = live_[static_cast<std::size_t>(id)];
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  const bool is_reusable =
      live.impl && live.impl->use_count() == 1 && live.impl->metadata_epoch == live.epoch &&
      (!live.impl->autograd ||
       (!live.impl->autograd->grad.defined() && !live.impl->autograd->retains_grad));
  if (!is_reusable) {
    Geometry geometry{slot.type.sizes, slot.strides, 0};
    live.impl = make_impl(StoragePtr(), std::move(geometry), slot.type.dtype);
    if (!slot.is_leaf) {
      if (!released_node_ && tape_hooks().make_released_node)
        released_node_ = tape_hooks().make_released_node();
      autograd_meta(*live.impl).grad_fn = released_node_;
    }
    live.epoch = live.impl->metadata_epoch;
  }
  // Anew for every run: a recording may have marked the tensor as its own meanwhile.
  live.impl->requires_grad = slot.requires_grad;
  if (live.impl->autograd) live.impl->autograd->hooks = 0;
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

void Replay::hand_out(const Word& word, std::size_t k, Tensor& output) {
  const SlotId id = word.outputs[k];
  if (id == kNoSlot) return;
  output = Tensor(word.output_is_new[k] ? &handle(id) : live_[static_cast<std::size_t>(id)].object);
}

TensorImpl& Replay::existing_handle(SlotId id) {
  Live& live = live_[static_cast<std::size_t>(id)];
  return live.run == run_ ? *live.object : handle(id);
}

// Would the word write memory that foreign code may look at as soon as the call is over? Only as
// the last of its segment, which is committed at once.
bool Replay::must_not_wait(const Word& word, Reason& why) {
  const bool is_exposed =
      std::any_of(word.written_live_ins.begin(), word.written_live_ins.end(), [this](SlotId id) {
        return live_[static_cast<std::size_t>(id)].object->storage->flags & Storage::kExposed;
      });
  const bool is_last = matched_ + 1 == segment_->words.size();
  if (is_exposed && !is_last) why = Reason::kExposedWrite;
  commits_now_ = is_exposed && is_last;
  return is_exposed && !is_last;
}

// Memory of live-ins that the word writes is behind the program from now on.
void Replay::owe(const Word& word) {
  for (const SlotId id : word.written_live_ins) {
    Storage& storage = *live_[static_cast<std::size_t>(id)].object->storage;
    storage.trace_session = session_;
    storage.flags |= Storage::kOwed;
  }
}

// ---- words ----

bool Replay::match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why) {
  if (is_complete()) {
    why = Reason::kMismatchOp;
    return false;
  }
  const Word& word = segment_->words[matched_];
  if (!same_head(word, call.op, site, *call.attrs, call.inputs.size(), call.numbers.size(), why))
    return false;
  if (word.is_inplace != call.is_inplace || word.is_big) {
    why = Reason::kMismatchOp;
    return false;
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (!match_operand(word.inputs[i], call.inputs[i], why)) return false;
  if (!call.numbers.empty() && !numbers_match(word, call.numbers, why)) return false;
  if (!word.nested_live_ins.empty() && !bind_nested(word, why)) return false;
  if (!word.written_live_ins.empty() && must_not_wait(word, why)) return false;
  // When what the check reads was not known, the run was left.
  if (call.op->check && !check_values(call, word)) [[unlikely]]
    return false;
  take_numbers(word, call.numbers);
  for (std::size_t k = 0; k < word.outputs.size(); ++k) hand_out(word, k, outputs[k]);
  if (!word.written_live_ins.empty()) owe(word);
  expected_.calls[matched_].place = record_of(user_site(call.site));
  tape_nodes_ += word.tape_nodes;
  ++matched_;
  return true;
}

bool Replay::match(const BigWord& big, const SiteKey& site, Reason& why) {
  if (is_complete()) {
    why = Reason::kMismatchOp;
    return false;
  }
  const Word& word = segment_->words[matched_];
  if (!same_head(word, big.op, site, *big.attrs, big.inputs.size(), big.numbers.size(), why))
    return false;
  if (!word.is_big || word.object != big.object || word.epoch != big.epoch) {
    why = Reason::kMismatchState;
    return false;
  }
  for (std::size_t i = 0; i < big.inputs.size(); ++i)
    if (!match_operand(word.inputs[i], big.inputs[i], why)) return false;
  if (!numbers_match(word, big.numbers, why) || !bind_nested(word, why) ||
      !gradients_hold(word, why) || !flag_holds(word, why) || must_not_wait(word, why))
    return false;
  // What a library call reads of exposed memory it reads now.
  for (const SlotId id : word.read_live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.is_exposed && !snapshot_is_current(live)) {
      why = Reason::kExposed;
      return false;
    }
  }
  take_numbers(word, big.numbers);
  apply_effects(word);
  const bool stops = word.stops_at >= 0 || word.stops_at_hook;
  if (big.results && !stops) {
    big.results->assign(word.outputs.size(), Tensor());
    for (std::size_t k = 0; k < word.outputs.size(); ++k) hand_out(word, k, (*big.results)[k]);
  }
  follow_code(word, big);
  owe(word);
  tape_nodes_ += word.tape_nodes;
  ++matched_;
  return true;
}

}  // namespace groove::tracer
