// The recorder, about what is no value: which gradients an expansion walks and leaves, user code,
// and where views lie.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tracer/calls/recorded_view.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/record/recorder.h"

namespace groove::tracer {

// How many hooks hang on a live-in after the calls so far.
std::uint32_t Recorder::hooks_as_recorded(SlotId live_in) const {
  std::uint32_t hooks = segment_->slots[static_cast<std::size_t>(live_in)].hooks;
  for (const RecordedCall& call : segment_->calls) {
    if (!changes_hooks(call)) continue;
    if (call.inputs[0] == live_in) hooks += call.code_role == CodeRole::kHangs ? 1 : -1;
  }
  return hooks;
}

// The program may set `.grad` by any means and at any time; so what counts is which object is there
// when a library call walks it.
void Recorder::use_grad(TensorImpl& leaf) {
  if (failure_ || !in_expansion_) return;
  const SlotId leaf_slot = slot_of(Tensor(&leaf));
  // Another thread may have taken hooks away, or hung some on it, since it was first seen.
  if (leaf.autograd && leaf.autograd->hooks_ever != 0 &&
      segment_->slots[static_cast<std::size_t>(leaf_slot)].is_live_in &&
      hooks_as_recorded(leaf_slot) != leaf.autograd->hooks)
    return fail(Reason::kThread);
  const auto now = static_cast<std::int32_t>(calls());
  if (std::exchange(noted_[static_cast<std::size_t>(leaf_slot)].walked, now) == now) return;
  const Tensor grad = leaf.autograd ? leaf.autograd->grad : Tensor();
  const SlotId id = slot_of(grad);
  if (id != kNoSlot) {
    Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (slot.is_live_in && slot.grad_of == kNoSlot) slot.grad_of = leaf_slot;
    if (slot.is_live_in) add_nested_live_in(id);
  }
  current().grads_before.push_back({leaf_slot, id});
}

void Recorder::set_grad(TensorImpl& leaf, const Tensor& grad) {
  if (failure_) return;
  const SlotId leaf_slot = slot_of(Tensor(&leaf));
  const SlotId grad_slot = slot_of(grad);
  if (grad_slot != kNoSlot)
    segment_->slots[static_cast<std::size_t>(grad_slot)].is_user_visible = true;
  noted_[static_cast<std::size_t>(leaf_slot)].walked = static_cast<std::int32_t>(calls());
  current().effects.push_back({leaf_slot, grad_slot});
}

void Recorder::close_expansion(const LibraryCall& big) {
  close_expansion(nullptr, nullptr);
  if (failure_) return;
  RecordedCall& closed = current();
  if (closed.code_role == CodeRole::kAttaches || closed.code_role == CodeRole::kHangs)
    attached_.emplace_back(TapeNodePtr(big.user_code), static_cast<std::int32_t>(calls()) - 1);
  if (closed.code_role == CodeRole::kResumes || closed.code_role == CodeRole::kAbandons)
    --open_walks_;
  if (closed.code_role == CodeRole::kResumes) closed.releases_code = big.user_code->is_released;
  if (big.script && *big.script)
    note_stop(**big.script);
  else if (big.results)
    note_results(big.results->data(), big.results->size());
  if (!failure_) note_flags(big);
}

// What an expansion has met that was no operand, here or before, must be among what the call walks,
// or follow from it: no recording is about certain objects.
void Recorder::note_found() {
  const RecordedCall& closed = current();
  for (std::size_t k = 0; k < closed.nested_live_ins.size(); ++k) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(closed.nested_live_ins[k])];
    if (closed.nested_places[k] < 0 && slot.grad_of == kNoSlot && slot.same_as == kNoSlot)
      fail(Reason::kUnknownAlias);
  }
  walked_.clear();
}

// Which operands require a gradient from here on, or no longer. Of a result it is known from now
// on, so that nothing has to be left for it.
void Recorder::note_flags(const LibraryCall& big) {
  for (std::size_t i = 0; i < big.inputs.size(); ++i) {
    const SlotId id = current().inputs[i];
    if (id == kNoSlot) continue;
    const bool before = required_grad_[i], after = big.inputs[i].impl()->requires_grad;
    const auto is_noted = [id](const FlagEffect& flag) { return flag.slot == id; };
    std::vector<FlagEffect>& flags = current().flags;
    if (before == after || std::any_of(flags.begin(), flags.end(), is_noted)) continue;
    const AutogradMeta* const meta = big.inputs[i].impl()->autograd;
    Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    flags.push_back({id, before, after, slot.is_leaf && meta && meta->grad_fn});
    if (!slot.is_live_in) slot.requires_grad = after;
  }
}

// The backward stops: user code is called with this iteration's gradients, and its own calls are
// calls like any other. It must be code that every replay knows.
void Recorder::note_stop(const Script& script) {
  ++open_walks_;
  const TapeNode* const code = script.user_code.get();
  for (const auto& [attached, at] : attached_)
    if (attached.get() == code) current().stops_at = at;
  if (current().stops_at < 0) {
    for (const SlotId id : segment_->live_ins) {
      if (segment_->slots[static_cast<std::size_t>(id)].hooks == 0) continue;
      const std::int32_t index =
          tape_hooks().index_of_hook(*objects_[static_cast<std::size_t>(id)].impl(), code);
      if (index >= 0) current().stops_at_hook = {id, index};
    }
    if (current().stops_at_hook.leaf == kNoSlot) return fail(Reason::kUserCode);
  }
  // A run compares no versions, so it would neither throw nor warn.
  if (tape_hooks().has_changed_saved(*code)) return fail(Reason::kChangedSaved);
  note_results(script.arguments.data(), script.arguments.size());
}

// What a call with an expansion gives to the program.
void Recorder::note_results(const Tensor* results, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    if (!results[k].defined()) {
      current().outputs.push_back(kNoSlot);
      current().output_is_new.push_back(false);
      continue;
    }
    const SlotId id = known_slot(*results[k].impl());
    if (id == kNoSlot) {  // made behind the dispatcher's back
      fail(Reason::kUnknownAlias);
      return;
    }
    Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    current().outputs.push_back(id);
    current().output_is_new.push_back(!slot.is_live_in && !slot.is_user_visible);
    slot.is_user_visible = true;
  }
  keep_widened();
}

// ---- memory that the program knows ----

void Recorder::keep_content(SlotId id) {
  const TensorImpl& impl = *objects_[static_cast<std::size_t>(id)].impl();
  if (is_too_large_to_keep(impl) || contents_.contains(id)) return;
  const std::size_t bytes = span_bytes(impl);
  const auto* const from = static_cast<const unsigned char*>(impl.data());
  contents_[id].assign(from, from + bytes);
}

// Was its memory written through a raw pointer since it was first used? Then it is another live-in
// from now on, with what it holds now.
bool Recorder::is_another_live_in(SlotId known) {
  if (contents_.empty()) return false;
  const Slot& slot = segment_->slots[static_cast<std::size_t>(known)];
  const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(slot.storage)];
  const auto found = contents_.find(storage.base);
  if (found == contents_.end() || storage.writes > 0) return false;
  const TensorImpl& base = *objects_[static_cast<std::size_t>(storage.base)].impl();
  if (std::memcmp(found->second.data(), base.data(), found->second.size()) == 0) return false;
  // A view made before shows what is there now, but belongs to what was.
  if (!slot.is_live_in) fail(Reason::kExposed);
  return slot.is_live_in;
}

// ---- views ----

// Where views begin is a number of the run, on which it depends whether they overlap.
void Recorder::note_apart(const Op& op) {
  const auto storage_of = [this](SlotId id) {
    return segment_->slots[static_cast<std::size_t>(id)].storage;
  };
  for (const int index : op.mutates) {
    const SlotId written = current().inputs[static_cast<std::size_t>(index)];
    for (const SlotId read : current().inputs)
      if (written != kNoSlot && read != kNoSlot && read != written &&
          storage_of(read) == storage_of(written))
        current().apart.emplace_back(written, read);
  }
}

// Empty when the recording cannot say.
std::optional<Recorder::Region> Recorder::region_in_base(SlotId id) const {
  const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(
      segment_->slots[static_cast<std::size_t>(id)].storage)];
  const Slot& whole = segment_->slots[static_cast<std::size_t>(storage.base)];
  const Geometry base{whole.type.sizes, whole.strides, 0};
  if (!base.is_contiguous()) return std::nullopt;
  std::vector<SlotId> way;
  for (SlotId at = id; at != storage.base;) {
    const Slot& view = segment_->slots[static_cast<std::size_t>(at)];
    if (view.parent == kNoSlot || view.view_call < 0) return std::nullopt;
    way.push_back(at);
    at = view.parent;
  }
  Region region;
  region.geometry = base;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const Slot& view = segment_->slots[static_cast<std::size_t>(*at)];
    const Node made = log_->node(view.view_call);
    std::vector<kernels::MovingStart> starts;
    region.geometry = recorded_view(
        made, region.geometry, segment_->slots[static_cast<std::size_t>(view.parent)].type, starts);
    for (const kernels::MovingStart& start : starts) {
      region.starts.push_back(made.numbers[start.number]);
      region.steps.push_back(start.stride);
      region.extents.push_back(start.size);
    }
  }
  return region;
}

}  // namespace groove::tracer
