// Replay, about what existed before: every live-in is checked at the first call that uses it, and
// kept for the run; of exposed memory the content at that time.
#include "tracer/calls/live_ins.h"

#include <algorithm>
#include <cstring>

#include "src/core/faults.h"
#include "tracer/replay/replay.h"
#include "tracer/thread/threads.h"

namespace groove::tracer {

ExpectedLiveIn::ExpectedLiveIn(const Segment& segment, SlotId id)
    : slot(&segment.slots[static_cast<std::size_t>(id)]),
      rank(static_cast<std::uint32_t>(slot->type.sizes.size())),
      dtype(slot->type.dtype),
      requires_grad(slot->requires_grad),
      is_leaf(slot->is_leaf),
      has_hooks(slot->hooks != 0),
      is_written(segment.storages[static_cast<std::size_t>(slot->storage)].writes > 0),
      is_kept(slot->is_walked),
      counts_apart(slot->counts_apart) {
  for (std::uint32_t i = 0; i < std::min(rank, kNear); ++i) {
    sizes[i] = slot->type.sizes[i];
    strides[i] = slot->strides[i];
  }
}

bool Replay::snapshot_is_current(const Live& live) const {
  return live.snapshot.empty() || has_fault(Fault::kStaleSnapshot) ||
         std::memcmp(live.snapshot.data(), live.object->data(), live.snapshot.size()) == 0;
}

// What the compiled code is given. Exposed memory that it writes is as it was kept, or the run is
// left before.
void* Replay::memory_for_run(const Live& live) const {
  const bool is_read_from_snapshot =
      live.is_exposed && !live.snapshot.empty() &&
      !expected_live_ins_[static_cast<std::size_t>(live.input)].is_written;
  return is_read_from_snapshot ? const_cast<unsigned char*>(live.snapshot.data())
                               : live.object->data();
}

// Of what is too large to keep, the last call of a segment reads the memory itself: it is committed
// before the program can write there.
bool Replay::meet_exposed(Live& live, Reason& why) {
  if (!is_too_large_to_keep(*live.object)) return take_snapshot(live, why);
  if (matched_ + 1 != segment_->calls.size()) {
    why = Reason::kExposedLarge;
    return false;
  }
  live.is_exposed = has_exposed_ = reads_now_ = true;
  live.is_checked = false;
  return true;
}

bool Replay::take_snapshot(Live& live, Reason& why) {
  if (is_too_large_to_keep(*live.object)) {
    why = Reason::kExposedLarge;
    return false;
  }
  const std::size_t bytes = span_bytes(*live.object);
  const unsigned char* from = static_cast<const unsigned char*>(live.object->data());
  live.snapshot.assign(from, from + bytes);
  live.is_exposed = has_exposed_ = true;
  live.is_checked = false;
  buffers_[static_cast<std::size_t>(live.input)] = memory_for_run(live);
  return true;
}

// As the slots are now; what was checked before counts no more.
void Replay::expect_live_ins() {
  expected_live_ins_.clear();
  names_.clear();
  addresses_.resize(segment_->live_ins.size());
  for (const SlotId id : segment_->live_ins) {
    Live& live = live_[static_cast<std::size_t>(id)];
    live.input = static_cast<std::int32_t>(expected_live_ins_.size());
    live.is_checked = false;
    expected_live_ins_.emplace_back(*segment_, id);
    const SlotId first = segment_->slots[static_cast<std::size_t>(id)].again;
    names_.push_back(first == kNoSlot ? id : first);
  }
  apart_.expect(static_cast<std::size_t>(
      std::count_if(expected_live_ins_.begin(), expected_live_ins_.end(),
                    [](const ExpectedLiveIn& expected) { return expected.requires_grad; })));
}

bool Replay::bind_another(SlotId id, TensorImpl& impl, Reason& why) {
  Live& live = live_[static_cast<std::size_t>(id)];
  if (!expected_live_ins_[static_cast<std::size_t>(live.input)].is_plainly(impl) ||
      is_owed_elsewhere(impl, session_) || makes(impl) || failing_live_in() >= 0)
    return bind_in_full(id, impl, why);
  return take(live, impl, why);
}

// Makes a tensor that has been checked the slot's, unless it is another's in this run.
bool Replay::take(Live& live, TensorImpl& impl, Reason& why) {
  const ExpectedLiveIn& expected = expected_live_ins_[static_cast<std::size_t>(live.input)];
  if (!is_apart(live, impl)) {
    why = Reason::kMismatchOperand;
    return false;
  }
  note_bound(live, impl);
  if (!(impl.storage->readers & reader_)) impl.storage->readers.set_bits(reader_);
  const auto input = static_cast<std::size_t>(live.input);
  void* const address = impl.data();
  if (addresses_[input] != address) moved_.push_back(segment_->live_ins[input]);
  buffers_[input] = addresses_[input] = address;
  live.is_checked = expected.is_kept && expected.is_leaf && !expected.has_hooks;
  live.epoch = impl.metadata_epoch;
  if (expected.is_kept)
    live.impl = groove::detail::RefPtr<TensorImpl>(&impl);
  else if (!has_fault(Fault::kLiveInNotKept))
    retain(live, impl);
  return true;
}

// Everything that the compiled code relies on, one by one.
bool Replay::bind_in_full(SlotId id, TensorImpl& impl, Reason& why) {
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
  if ((has_stale_history(impl) && !derive_history(id, impl)) ||
      (grad_enabled() && is_lost_view(impl))) [[unlikely]] {
    why = Reason::kLiveInType;
    return false;
  }
  const std::uint32_t hooks = impl.autograd ? impl.autograd->hooks : 0;
  if ((hooks != slot.hooks && !has_fault(Fault::kHooksNotGuarded)) ||
      impl.counts_apart != slot.counts_apart ||
      requires_grad_by_base(impl) != slot.requires_by_base ||
      (impl.requires_grad != slot.requires_grad && !has_fault(Fault::kRequiresGradNotGuarded))) {
    return refuse_type(id, impl, why);
  }
  // What this run makes is none, though a stage made it real: its history is yet to come.
  if (impl.is_pending || makes(impl)) {
    why = Reason::kMismatchOperand;
    return false;
  }
  const bool is_leaf = !impl.autograd || !impl.autograd->grad_fn;
  if ((impl.dtype != slot.type.dtype && !has_fault(Fault::kDtypeNotGuarded)) ||
      (impl.geometry.sizes != slot.type.sizes && !has_fault(Fault::kSizesNotGuarded)) ||
      (impl.geometry.strides != slot.strides && !has_fault(Fault::kStridesNotGuarded)) ||
      is_leaf != slot.is_leaf) {
    return refuse_type(id, impl, why);
  }
  const std::uint32_t flags = impl.storage->flags;
  if (flags & Storage::kOwed) {  // written through an alias in this very run
    why = Reason::kLiveInAlias;
    return false;
  }
  if (!take(live, impl, why)) return false;
  if (flags & Storage::kExposed && !meet_exposed(live, why)) {
    live.run = 0;
    return false;
  }
  return true;
}

bool Replay::refuse_type(SlotId id, const TensorImpl& impl, Reason& why) {
  if (!is_unlike_known()) unlike_ = {run_, matched_, segment_.get(), id, &impl};
  why = Reason::kLiveInType;
  return false;
}

Came::Input Replay::unlike_input() const {
  if (!is_unlike_known() || unlike_.segment != segment_.get()) return {};
  return {&segment_->slots[static_cast<std::size_t>(unlike_.slot)], unlike_.came};
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
    Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || live.object->storage.get() != &storage) continue;
    is_live_in = true;
    if (!live.is_exposed && !take_snapshot(live, why)) return false;
  }
  for (std::size_t id = 0; id < live_.size(); ++id) {
    Live& live = live_[id];
    const Slot& slot = segment_->slots[id];
    if (live.run != run_ || slot.is_live_in) continue;
    // Made in this run: calls that are yet to match, or to be run again, may read it.
    if (!is_live_in && live.object->storage.get() == &storage &&
        segment_->storages[static_cast<std::size_t>(slot.storage)].is_used)
      return false;
    if (slot.parent != kNoSlot) live.is_exposed = memory_of(static_cast<SlotId>(id)).is_exposed;
  }
  return true;
}

bool Replay::reads(const Storage& storage) const {
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.object->storage.get() == &storage) return true;
  }
  return false;
}

// Does the call write, by this name, what the run has bound by another? What lies where it lay in
// the run before is no such thing now if it was none then.
bool Replay::has_another_name(SlotId written) const {
  const std::int32_t storage = segment_->slots[static_cast<std::size_t>(written)].storage;
  const Storage* const memory = live_[static_cast<std::size_t>(written)].object->storage.get();
  const auto is_other = [&](SlotId id) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    return live.run == run_ && live.object->storage.get() == memory &&
           segment_->slots[static_cast<std::size_t>(id)].storage != storage;
  };
  const bool has_moved = std::find(moved_.begin(), moved_.end(), written) != moved_.end();
  const std::vector<SlotId>& names = has_moved ? segment_->live_ins : moved_;
  return std::any_of(names.begin(), names.end(), is_other);
}

bool Replay::makes(const TensorImpl& impl) const {
  if (impl.trace_session != session_ || impl.trace_id < 0) return false;
  const auto id = static_cast<std::size_t>(impl.trace_id);
  return id < live_.size() && live_[id].run == run_ && live_[id].object == &impl;
}

bool Replay::is_bound(const TensorImpl& impl) const {
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.object == &impl) return true;
  }
  return false;
}

}  // namespace groove::tracer
