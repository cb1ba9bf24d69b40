// Replay, the running half: stages of the compiled program, and what becomes of the handles.
#include <algorithm>
#include <utility>

#include "src/core/allocator.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "tracer/cache/budget.h"
#include "tracer/calls/numbers.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/replay/replay.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/threads.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

void give_back(Storage& lent) {
  StoragePtr::adopt(static_cast<Storage*>(std::exchange(lent.free_context, nullptr)));
}
bool is_lent(const Storage& storage) { return storage.free == give_back; }

// Of what was made inside.
void set_versions(Storage& storage, const StorageInfo& info) {
  storage.version = info.versions();
  storage.unnoticed = info.unnoticed;
}

// A piece of an arena, which lives as long as it.
StoragePtr lend(const StoragePtr& arena, void* at, std::size_t bytes) {
  StoragePtr lent = make_storage();
  lent->data = at;
  lent->bytes = bytes;
  lent->free = give_back;
  lent->free_context = StoragePtr(arena).release_ownership();
  return lent;
}

}  // namespace

Replay::Replay(SegmentPtr segment, std::uint64_t session, Workspace& workspace,
               std::atomic<bool>& shows_results)
    : segment_(std::move(segment)),
      expected_(*segment_),
      session_(session),
      reader_(reader_bit(session)),
      workspace_(workspace),
      shows_results_(shows_results) {
  live_.resize(segment_->slots.size());
  scalars_.resize(std::max<std::size_t>(segment_->number_kinds.size(), 1));
  buffers_.resize(segment_->live_ins.size() + segment_->output_storages.size());
  for (const RecordedCall& call : segment_->calls) {
    operators_ += call.operators;
    whole_.append(call.hash);
    if (call.op->kind != OpKind::kView || call.has_settled_position) continue;
    for (std::size_t i = 0; i < call.number_kinds.size(); ++i)
      starts_.push_back(call.first_number + static_cast<std::int32_t>(i));
  }
  for (const RecordedCall& call : segment_->calls) {
    for (const LeafGrad& effect : call.effects) changed_.push_back(effect.leaf);
    for (const FlagEffect& flag : call.flags) changed_.push_back(flag.slot);
    if (changes_hooks(call)) changed_.push_back(call.inputs[0]);
  }
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  std::vector<char> gets_history(segment_->slots.size());
  for (const RecordedCall& call : segment_->calls)
    for (const FlagEffect& flag : call.flags)
      gets_history[static_cast<std::size_t>(flag.slot)] |= flag.gets_history;
  storage_users_.resize(segment_->storages.size());
  for (std::size_t id = 0; id < segment_->slots.size(); ++id) {
    const Slot& slot = segment_->slots[id];
    live_[id].requires_grad = slot.requires_grad;
    if (!slot.is_live_in && slot.is_user_visible)
      storage_users_[static_cast<std::size_t>(slot.storage)].push_back(static_cast<SlotId>(id));
  }
  expect_live_ins();
  for (std::size_t i = 0; i < expected_live_ins_.size(); ++i)
    if (expected_live_ins_[i].is_written) written_.push_back(segment_->live_ins[i]);
  for (std::size_t s = 0; s < segment_->storages.size(); ++s) {
    const StorageInfo& info = segment_->storages[s];
    if (info.is_live_in)
      views_.insert(views_.end(), storage_users_[s].begin(), storage_users_[s].end());
    else if (info.output >= 0 || info.early_output >= 0)
      outputs_.push_back(static_cast<std::int32_t>(s));
    // Of results that nobody held, there is no value, or nothing is known of their history.
    const bool is_inner = !info.is_live_in && info.output < 0 && info.early_output < 0;
    for (const SlotId id : storage_users_[s]) {
      const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
      const bool has_history = !slot.is_leaf || gets_history[static_cast<std::size_t>(id)];
      if (!is_inner && !slot.is_held && has_history) inner_.push_back(id);
    }
    if (is_inner) inner_.insert(inner_.end(), storage_users_[s].begin(), storage_users_[s].end());
  }
  run_ = 1;
  find_gradients();
}

// Which outputs the calls leave in leaves' `.grad`.
void Replay::find_gradients() {
  std::vector<char> is_gradient(segment_->storages.size());
  for (const RecordedCall& call : segment_->calls)
    for (const LeafGrad& effect : call.effects) {
      if (effect.grad == kNoSlot) continue;
      const std::int32_t storage = segment_->slots[static_cast<std::size_t>(effect.grad)].storage;
      is_gradient[static_cast<std::size_t>(storage)] =
          segment_->storages[static_cast<std::size_t>(storage)].base == effect.grad;
    }
  for (const std::int32_t storage : segment_->output_storages)
    may_lend_.push_back(is_gradient[static_cast<std::size_t>(storage)]);
}

Replay::~Replay() = default;

Stretch Replay::stretch() const {
  if (is_complete()) return whole_;
  Stretch calls;
  for (std::size_t w = 0; w < matched_; ++w) calls.append(segment_->calls[w].hash);
  return calls;
}

std::uint32_t Replay::position() const {
  Position position;
  if (is_complete())
    for (const std::int32_t number : starts_)
      position.add(scalars_[static_cast<std::size_t>(number)]);
  return position.value();
}

// The memory of all outputs: a fused kernel may compute early what only a later stage owes. The
// addresses of live-ins are there since they were bound; null for those of calls to come.
void Replay::prepare_buffers(std::int32_t stage) {
  if (stage > 0) return;
  for (std::size_t i = 0; i < segment_->live_ins.size() && !is_complete(); ++i)
    if (live_[static_cast<std::size_t>(segment_->live_ins[i])].run != run_) buffers_[i] = nullptr;
  void** buffer = buffers_.data() + segment_->live_ins.size();
  for (std::size_t i = 0; i < segment_->output_storages.size(); ++i) *buffer++ = output_buffer(i);
}

// Memory for an output. A result that another segment's stage made real keeps its own: this
// program makes the same bits again, for itself.
void* Replay::output_buffer(std::size_t output) {
  const std::int32_t storage = segment_->output_storages[output];
  const StorageInfo& info = segment_->storages[static_cast<std::size_t>(storage)];
  TensorImpl& impl = existing_handle(info.base);
  const std::size_t bytes = static_cast<std::size_t>(impl.numel) * element_size(impl.dtype);
  if (live_[static_cast<std::size_t>(info.base)].is_filled) [[unlikely]] {
    scratch_.resize(segment_->storages.size());
    StoragePtr& own = scratch_[static_cast<std::size_t>(storage)];
    if (!own) own = allocate_storage(bytes);
    return own->data;
  }
  if (lends(output)) {
    char* const at = static_cast<char*>(arena_->data) + segment_->executable->output_place(output);
    // Of one that is still this arena's, nobody else has a reference.
    const bool is_known = impl.storage && is_lent(*impl.storage) && impl.storage->data == at &&
                          impl.storage->free_context == arena_.get() &&
                          impl.storage->bytes == bytes;
    if (!is_known) impl.storage = lend(arena_, at, bytes);
    set_versions(*impl.storage, info);
    return at;
  }
  // The storage of the last iteration serves again when nothing else refers to it.
  const bool is_shared =
      impl.storage && impl.storage->use_count() > 1 && !has_fault(Fault::kSharedResultMemory);
  if (!impl.storage || is_lent(*impl.storage) || is_shared || impl.storage->flags != 0 ||
      impl.storage->bytes < bytes)
    impl.storage = allocate_storage(bytes);
  set_versions(*impl.storage, info);
  return impl.storage->data;
}

// ---- gradients in the arena ----

// What a backward leaves in a leaf's `.grad` is gone, as a rule, when the next run needs the arena.
bool Replay::lends(std::size_t output) const {
  return !may_lend_.empty() && may_lend_[output] && arena_->bytes >= large_arena() &&
         segment_->executable->output_place(output) >= 0;
}

// Is what was lent to it nobody else's?
bool Replay::is_lent_back(const Live& live) const {
  if (!live.impl || !live.impl->storage) return false;
  const Storage& storage = *live.impl->storage;
  const bool is_handle = live.run == run_ ? !live.is_filled : live.impl->use_count() == 1;
  return is_handle && is_lent(storage) && storage.free_context == arena_.get() &&
         storage.use_count() == 1 && storage.flags == 0;
}

// An arena in which the program still holds a gradient is left to it; from then on those that were
// held have memory of their own.
void Replay::part_with_arena() {
  if (!arena_ || arena_->use_count() == 1) return;
  std::int64_t known = 1;
  const auto live = [&](std::size_t output) -> const Live& {
    const auto storage = static_cast<std::size_t>(segment_->output_storages[output]);
    return live_[static_cast<std::size_t>(segment_->storages[storage].base)];
  };
  for (std::size_t i = 0; i < may_lend_.size(); ++i) known += is_lent_back(live(i));
  if (arena_->use_count() == known || has_fault(Fault::kSharedResultMemory)) return;
  for (std::size_t i = 0; i < may_lend_.size(); ++i) may_lend_[i] &= is_lent_back(live(i));
  arena_.reset();
}

void Replay::prepare_arena() {
  const std::size_t all = std::max<std::size_t>(segment_->executable->arena_bytes(), 1);
  const std::size_t kept = segment_->executable->kept_bytes();
  // A large one may hold gradients until the next run.
  const bool shares = kept < all && all < large_arena();
  if (const std::size_t bytes = shares ? std::max<std::size_t>(kept, 1) : all;
      !arena_ || arena_->bytes < bytes) {
    arena_ = allocate_arena(bytes);
    program_context_.arena = arena_->data;
    program_context_.mark = 0;
  }
  void* const work = shares ? workspace_.take(all - kept) : nullptr;
  if (work == program_context_.work) return;
  program_context_.work = work;
  program_context_.mark = 0;
}

std::size_t Replay::ran() const {
  const auto stages = static_cast<std::size_t>(std::max(next_stage_, own_stages_));
  if (stages == 0) return 0;
  // The last stage ends with the run.
  const std::vector<StageEnd>& ends = segment_->stage_ends;
  return stages <= ends.size() ? static_cast<std::size_t>(ends[stages - 1].after) : matched_;
}

// At other sizes than before a program may have to be made. What it takes to be at other sizes
// every run takes, what it takes to make a program but one.
bool Replay::prepare_program() {
  if (!segment_->original) return segment_->executable->prepare();
  const std::int64_t before = investment().spent_here();
  const bool is_prepared = segment_->executable->prepare();
  preparing_ += std::max<std::int64_t>(0, investment().spent_here() - before);
  return is_prepared;
}

// What a program writes it reads where it lies, whichever stage it is that writes: exposed memory
// must hold what was kept of it.
bool Replay::writes_what_was_kept() const {
  return std::all_of(written_.begin(), written_.end(), [this](SlotId id) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    return !live.is_exposed || live.run != run_ || snapshot_is_current(live);
  });
}

Reason Replay::run_stage(std::int32_t stage) {
  if (!writes_what_was_kept()) return Reason::kExposed;
  try {
    if (!prepare_program()) return Reason::kLiveInType;
    if (stage == 0) part_with_arena();
    prepare_arena();
    prepare_buffers(stage);
  } catch (const std::exception&) {
    return Reason::kProgramFailed;  // out of memory, and nothing has happened yet
  }
  program_context_.stage = stage;
  const CompiledTime time;
  const Executable& program = *segment_->executable;
  return program.run(buffers_.data(), nullptr, scalars_.data(), program_context_) == 0
             ? Reason::kCompleted
             : Reason::kProgramFailed;
}

PooledVector<Scalar> Replay::numbers_of(const Node& node) const {
  PooledVector<Scalar> numbers;
  for (const NumberRef& ref : node.numbers) {
    if (ref.entry < 0) {
      numbers.push_back(ref.constant);
      continue;
    }
    numbers.push_back(number_in(scalars_[static_cast<std::size_t>(ref.entry)],
                                segment_->number_kinds[static_cast<std::size_t>(ref.entry)]));
  }
  return numbers;
}

Geometry Replay::geometry_of(SlotId id) const {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  const Live& live = live_[static_cast<std::size_t>(id)];
  if (slot.is_live_in) return live.object->geometry;
  if (slot.parent == kNoSlot) return {slot.type.sizes, contiguous_strides(slot.type.sizes), 0};
  const Node& made = segment_->graph.nodes[static_cast<std::size_t>(slot.view_call)];
  const PooledVector<Scalar> numbers = numbers_of(made);
  const Type& type = segment_->slots[static_cast<std::size_t>(slot.parent)].type;
  return made.op->view(geometry_of(slot.parent), Signature{*made.op, type, made.attrs, numbers});
}

// Gives the handle of a slot its storage; that of its base is real.
void Replay::fill(SlotId id) {
  Live& live = live_[static_cast<std::size_t>(id)];
  if (live.run != run_ || live.is_filled) return;
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  TensorImpl& impl = *live.object;
  if (slot.parent != kNoSlot) {
    const SlotId base = segment_->storages[static_cast<std::size_t>(slot.storage)].base;
    impl.storage = live_[static_cast<std::size_t>(base)].object->storage;
    impl.set_geometry(geometry_of(id));
  }
  if (!is_publishing_late_)
    impl.is_pending = false;
  else if (impl.is_pending)
    unpublished_.push_back(&impl);
  live.is_filled = true;
}

void Replay::fill_storage_users(std::int32_t storage) {
  const StorageInfo& info = segment_->storages[static_cast<std::size_t>(storage)];
  fill(info.base);
  for (const SlotId id : storage_users_[static_cast<std::size_t>(storage)]) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    // A view that nobody holds stays an empty handle.
    if (id != info.base && live.run == run_ && live.impl->use_count() == 1) continue;
    fill(id);
  }
}

bool Replay::run_stages_through(std::int32_t stage) {
  if (next_stage_ <= stage && !has_fault(Fault::kAliasNotChecked) && has_aliases()) return false;
  resume_resized();
  for (; next_stage_ <= stage; ++next_stage_) {
    if (run_stage(next_stage_) != Reason::kCompleted) return false;
    shows_results_.store(true, std::memory_order_release);
    // What this stage's output holds becomes real, looked at or not.
    const StageEnd& end = segment_->stage_ends[static_cast<std::size_t>(next_stage_)];
    fill_storage_users(segment_->slots[static_cast<std::size_t>(end.slot)].storage);
  }
  return true;
}

bool Replay::run_stage_for(TensorImpl& impl) {
  if (!catch_up()) return false;
  const SlotId id = known_slot(impl);  // of a live-in, what the object itself carries is not ours
  if (id == kNoSlot) return false;
  const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
  const StorageInfo& info = segment_->storages[static_cast<std::size_t>(storage)];
  const auto was_looked_at = [&] {
    return info.early_output >= 0 &&
           segment_->graph.outputs[static_cast<std::size_t>(info.early_output)].stage < next_stage_;
  };
  // A view of something real, which is not to be written before this call.
  const bool is_real = info.is_live_in && static_cast<std::size_t>(info.first_write) >= matched_;
  if (is_real || was_looked_at()) {
    shows_results_.store(true, std::memory_order_release);
    if (!segment_->slots[static_cast<std::size_t>(id)].is_live_in) fill(id);
    return true;
  }
  // The end of stage n is the n-th.
  for (auto n = static_cast<std::size_t>(next_stage_); n < segment_->stage_ends.size(); ++n) {
    const StageEnd& end = segment_->stage_ends[n];
    if (static_cast<std::size_t>(end.after) > matched_) break;
    if (segment_->slots[static_cast<std::size_t>(end.slot)].storage == storage &&
        static_cast<std::size_t>(end.after) == matched_)
      return run_stages_through(end.stage) && !impl.is_pending;
  }
  return false;
}

// Does the program hold a result that the compiled code does not give?
bool Replay::has_escaped(Reason& why) {
  escaped_.clear();
  for (const SlotId id : inner_) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || live.impl->use_count() == 1) continue;
    for (std::size_t w = 0; w < segment_->calls.size(); ++w)
      for (std::size_t k = 0; k < segment_->calls[w].outputs.size(); ++k)
        if (segment_->calls[w].outputs[k] == id)
          escaped_.emplace_back(static_cast<std::int32_t>(w), static_cast<std::int32_t>(k));
    why = Reason::kEscape;
  }
  return why == Reason::kEscape;
}

bool Replay::has_aliases() const {
  if (written_.empty()) return false;
  for (const SlotId id : written_) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_) continue;
    const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
    Storage& object = *live.object->storage;
    object.trace_index = storage;
    object.trace_session = session_;
  }
  for (const SlotId id : segment_->live_ins) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_) continue;
    const Storage& object = *live.object->storage;
    if (object.flags & Storage::kOwed && object.trace_session == session_ &&
        object.trace_index != slot.storage)
      return true;
  }
  return false;
}

// What others owe, or is only read and shared with them, is not written at all.
bool Replay::owes(const Live& live) const {
  if (live.run != run_ || !live.object) return false;
  const Storage& storage = *live.object->storage;
  return storage.flags & Storage::kOwed && have_one_owner(storage.trace_session, session_);
}

// Gradients and flags stay as they are now.
void Replay::end_changes() {
  for (const SlotId id : changed_) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || !live.object || !live.object->autograd) continue;
    const std::uint64_t by = live.object->autograd->changed_by;
    if (by != 0 && have_one_owner(by, session_)) tracer::end_changes(*live.object, by);
  }
}

void Replay::clear_owed() {
  for (const SlotId id : written_) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (owes(live)) live.object->storage->flags &= ~Storage::kOwed;
  }
}

void Replay::finish_writes() {
  for (const SlotId id : written_) {
    const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
    const StorageInfo& info = segment_->storages[static_cast<std::size_t>(storage)];
    TensorImpl& impl = *live_[static_cast<std::size_t>(id)].object;
    impl.storage->version += has_fault(Fault::kDroppedVersionBump) ? 0 : info.versions();
    impl.storage->unnoticed += info.unnoticed;
  }
}

bool Replay::commit(Reason& why) {
  why = Reason::kCompleted;
  if (!has_fault(Fault::kEscapeNotChecked) && has_escaped(why)) return false;
  if (!has_fault(Fault::kAliasNotChecked) && has_aliases()) {
    why = Reason::kLiveInAlias;
    return false;
  }
  resume_resized();
  for (; next_stage_ < segment_->stages; ++next_stage_) {
    why = run_stage(next_stage_);
    if (why != Reason::kCompleted) return false;
  }
  finish_writes();
  // Others read what it holds, and how often it was written, from here on.
  if (!is_to_be_compared_) clear_owed();
  // Other threads take results for complete as soon as they are not pending.
  is_publishing_late_ = segment_->history || !segment_->tracked_views.empty() || segment_->used_up;
  for (const SlotId id : views_) {
    // One that nobody holds stays an empty handle.
    const Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run == run_ && live.impl->use_count() > 1) fill(id);
  }
  for (const std::int32_t storage : outputs_) fill_storage_users(storage);
  keep_history();
  for (TensorImpl* const impl : unpublished_) impl->is_pending = false;
  unpublished_.clear();
  is_publishing_late_ = false;
  if (tape_nodes_ > 0 && tape_hooks().sequence && !has_fault(Fault::kDroppedTapePositions))
    tape_hooks().set_sequence(tape_hooks().sequence() + tape_nodes_);
  return true;
}

void Replay::poison() {
  clear_owed();
  unpublished_.clear();
  is_publishing_late_ = false;
  for (std::size_t id = 0; id < live_.size(); ++id) {
    Live& live = live_[id];
    if (segment_->slots[id].is_live_in || live.run != run_ || !live.impl || !live.impl->is_pending)
      continue;
    forget_session(*live.impl);
    live.impl.reset();
    live.run = 0;
  }
  reset();
}

void Replay::release_gone() {
  if (is_started()) return;
  for (const SlotId id : segment_->live_ins) {
    Live& live = live_[static_cast<std::size_t>(id)];
    const bool is_kept = expected_live_ins_[static_cast<std::size_t>(live.input)].is_kept;
    if (!is_kept || !live.impl || live.impl->use_count() > 1) continue;
    live.impl.reset();
    live.object = nullptr;
    live.is_checked = false;
  }
}

void Replay::release_memory() {
  // Less than this is sooner kept than found again, and filled again with the addresses it holds.
  if (is_started() || !arena_ || arena_->bytes < large_arena()) return;
  arena_.reset();
  program_context_.arena = nullptr;
  program_context_.mark = 0;
  scratch_.clear();
  for (std::size_t id = 0; id < live_.size(); ++id) {
    Live& live = live_[id];
    if (segment_->slots[id].is_live_in || !live.impl || live.impl->use_count() > 1) continue;
    forget_session(*live.impl);
    live.impl.reset();
    live.run = 0;
  }
}

void Replay::reset() {
  // Where they lie is known to be right only of runs to the end.
  if (was_left_ || !is_complete())
    for (const SlotId id : moved_) {
      Live& live = live_[static_cast<std::size_t>(id)];
      addresses_[static_cast<std::size_t>(live.input)] = nullptr;
      live.is_checked = false;
    }
  drop_history();
  end_changes();
  ++run_;  // first: a tensor that ends now is no live-in any more
  for (const SlotId id : retained_) live_[static_cast<std::size_t>(id)].impl.reset();
  retained_.clear();
  moved_.clear();
  matched_ = 0;
  preparing_ = 0;
  has_exposed_ = false;
  next_stage_ = owed_stages_ = own_stages_ = 0;
  is_resized_ = false;
  commits_now_ = reads_now_ = is_to_be_compared_ = false;
  tape_nodes_ = 0;
  if (segment_->history)
    for (const auto& [at, code] : code_) tape_hooks().part_with_saved(*code);
  code_.clear();
  scripts_.clear();
}

}  // namespace groove::tracer
