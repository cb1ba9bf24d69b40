// Replay, the crossing: where the program leaves the calls of one segment but follows those of
// another that begins alike, the run goes over with everything it has bound and handed out.
#include <algorithm>

#include "src/core/check.h"
#include "tracer/cache/paths.h"
#include "tracer/calls/fields.h"
#include "tracer/replay/replay.h"

namespace groove::tracer {
namespace {

template <typename AnyCall>
void add_operands(CallKey& key, const AnyCall& call, const auto& known_slot) {
  std::vector<const TensorImpl*> seen;  // that the run does not know, in order
  for (const Tensor& input : call.inputs) {
    if (!input.defined()) {
      key.add_undefined();
      continue;
    }
    const TensorImpl& impl = *input.impl();
    if (const SlotId slot = known_slot(impl); slot != kNoSlot) {
      key.add_known(slot);
      continue;
    }
    const auto found = std::find(seen.begin(), seen.end(), &impl);
    key.add_new(static_cast<std::size_t>(found - seen.begin()), {impl.dtype, impl.geometry.sizes},
                impl.geometry.strides);
    if (found == seen.end()) seen.push_back(&impl);
  }
}

std::uint64_t key_with(const Call& call, const SiteKey& site, const auto& known_slot) {
  CallKey key(*call.op, *call.attrs, site, grad_enabled());
  key.add_numbers(call.numbers.size());
  add_operands(key, call, known_slot);
  return key.value();
}

std::uint64_t key_with(const LibraryCall& call, const SiteKey& site, const auto& known_slot) {
  CallKey key(*call.op, *call.attrs, site, grad_enabled());
  key.add_numbers(call.numbers.size());
  key.add_walk(call.walked.size(), call.structure);
  add_operands(key, call, known_slot);
  return key.value();
}

constexpr auto knows_nothing = [](const TensorImpl&) { return kNoSlot; };

}  // namespace

std::uint64_t key_of_first(const Call& call, const SiteKey& site) {
  return key_with(call, site, knows_nothing);
}
std::uint64_t key_of_first(const LibraryCall& call, const SiteKey& site) {
  return key_with(call, site, knows_nothing);
}

// The slot that a tensor has for the calls matched so far.
SlotId Replay::known_slot(const TensorImpl& impl) const {
  const auto end = is_complete() ? static_cast<SlotId>(segment_->slots.size())
                                 : segment_->calls[matched_].first_slot;
  const auto is_here = [&](SlotId id) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    return id < end && live.run == run_ && live.object == &impl;
  };
  if (impl.trace_session == session_ && impl.trace_id >= 0 && is_here(impl.trace_id))
    return impl.trace_id;
  const auto found = std::find_if(segment_->live_ins.begin(), segment_->live_ins.end(), is_here);
  return found == segment_->live_ins.end() ? kNoSlot : *found;
}

std::uint64_t Replay::key_of(const Call& call, const SiteKey& site) const {
  return key_with(call, site, [this](const TensorImpl& impl) { return known_slot(impl); });
}
std::uint64_t Replay::key_of(const LibraryCall& call, const SiteKey& site) const {
  return key_with(call, site, [this](const TensorImpl& impl) { return known_slot(impl); });
}

std::int32_t Replay::storage_of(const TensorImpl& impl) const {
  const SlotId slot = known_slot(impl);
  return slot == kNoSlot ? -1 : segment_->slots[static_cast<std::size_t>(slot)].storage;
}

// How many stages of this segment make what the stages that `from` has run have made; -1 when some
// of it is not made by any.
std::int32_t Replay::stages_seen(const Replay& from) const {
  std::int32_t count = 0;
  // What paths before that one ran it owes.
  const std::int32_t made = std::max(from.next_stage_, from.owed_stages_);
  const Segment& other = *from.segment_;
  const auto storage = [](const Segment& segment, const StageEnd& end) {
    return segment.slots[static_cast<std::size_t>(end.slot)].storage;
  };
  for (const StageEnd& ran : other.stage_ends) {
    if (ran.stage >= made) continue;
    const auto same = std::find_if(
        segment_->stage_ends.begin(), segment_->stage_ends.end(), [&](const StageEnd& end) {
          return end.after == ran.after && storage(*segment_, end) == storage(other, ran);
        });
    if (same == segment_->stage_ends.end()) return -1;
    count = std::max(count, same->stage + 1);
  }
  return count;
}

bool Replay::can_switch_path(const Replay& from) const {
  return from.matched_ < segment_->path.size() &&
         segment_->path[from.matched_] == from.path_node() && can_receive(from);
}

bool Replay::can_receive(const Replay& from) const {
  if (stages_seen(from) < 0) return false;
  for (const SlotId id : from.segment_->live_ins) {
    const Live& bound = from.live_[static_cast<std::size_t>(id)];
    if (bound.run != from.run_ || static_cast<std::size_t>(id) >= segment_->slots.size()) continue;
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (!slot.is_live_in) continue;  // bound by the call that came next
    if (!is_checked_alike(slot, from.segment_->slots[static_cast<std::size_t>(id)])) return false;
  }
  return true;
}

void Replay::switch_path(Replay& from) {
  owed_stages_ = stages_seen(from);
  stages_before_ = from.next_stage_;
  matched_ = from.matched_;
  tape_nodes_ = from.tape_nodes_;
  has_exposed_ = from.has_exposed_;
  code_.swap(from.code_);
  scripts_.swap(from.scripts_);
  const std::size_t end = from.is_complete()
                              ? from.segment_->slots.size()
                              : static_cast<std::size_t>(from.segment_->calls[matched_].first_slot);
  for (std::size_t id = 0; id < end; ++id) {
    Live &mine = live_[id], &theirs = from.live_[id];
    if (theirs.run != from.run_) continue;
    std::swap(mine, theirs);
    std::swap(mine.input, theirs.input);
    mine.run = run_;
    theirs.run = 0;
    if (mine.input >= 0) {
      GROOVE_ASSERT(is_apart(mine, *mine.object));  // as it was in the other
      moved_.push_back(static_cast<SlotId>(id));
      buffers_[static_cast<std::size_t>(mine.input)] = memory_for_run(mine);
      // What the other has checked this one may look at differently.
      mine.is_checked = theirs.is_checked = false;
      // One certain object there may be any here.
      if (mine.impl)
        retained_.push_back(static_cast<SlotId>(id));
      else
        retain(mine, *mine.object);
      continue;
    }
    mine.object->trace_session = session_;
    if (theirs.impl) theirs.impl->trace_session = from.session_;
  }
  const std::size_t numbers =
      is_complete() ? scalars_.size()
                    : static_cast<std::size_t>(segment_->calls[matched_].first_number);
  std::copy_n(from.scalars_.begin(), std::min(numbers, from.scalars_.size()), scalars_.begin());
  from.reset();
}

void Replay::hand_back(Replay& from) {
  from.switch_path(*this);
  from.next_stage_ = stages_before_;
}

void Replay::note_resized() {
  expected_.renew_attributes(*segment_);
  expect_live_ins();
  // Those that the run has are what they were.
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_) static_cast<void>(is_apart(live, *live.object));
  }
  is_resized_ = true;
  const std::size_t known = is_complete()
                                ? segment_->slots.size()
                                : static_cast<std::size_t>(segment_->calls[matched_].first_slot);
  for (std::size_t id = 0; id < live_.size(); ++id) {
    Live& live = live_[id];
    const Slot& slot = segment_->slots[id];
    if (slot.is_live_in || !live.impl || (live.run == run_ && id < known)) continue;
    if (live.impl->geometry.sizes == slot.type.sizes && live.impl->geometry.strides == slot.strides)
      continue;
    live.impl.reset();
    live.run = 0;  // memory for it may have been made with that of an earlier stage's results
  }
  owed_stages_ = std::max(owed_stages_, next_stage_);
  own_stages_ = std::max(own_stages_, next_stage_);
  next_stage_ = 0;
}

// Sizes that were not known when stages ran seldom change what these did. If they do, or the memory
// lies elsewhere now, all run again; the results that are real keep their own memory.
void Replay::resume_resized() {
  if (!std::exchange(is_resized_, false)) return;
  const Executable& program = *segment_->executable;
  const bool goes_on = own_stages_ > 0 && own_stages_ == owed_stages_ && prepare_program() &&
                       program.kept_stages() >= own_stages_ && arena_ &&
                       arena_->bytes >= program.arena_bytes() &&
                       !has_fault(Fault::kSharedResultMemory);
  if (!goes_on) {
    scratch_.clear();
    return;
  }
  next_stage_ = own_stages_;
  void** buffer = buffers_.data() + segment_->live_ins.size();
  for (std::size_t i = 0; i < segment_->output_storages.size(); ++i, ++buffer) {
    const StorageInfo& info =
        segment_->storages[static_cast<std::size_t>(segment_->output_storages[i])];
    const Live& live = live_[static_cast<std::size_t>(info.base)];
    const bool is_as_before =
        live.is_filled || (live.impl && live.impl->storage && live.impl->storage->data == *buffer);
    if (!is_as_before) *buffer = output_buffer(i);
  }
}

bool Replay::catch_up() { return run_stages_through(owed_stages_ - 1); }

}  // namespace groove::tracer
