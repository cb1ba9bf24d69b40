// Replay, the way out: what has matched runs eagerly, from the first call on. Compiled stages that
// ran before the end wrote nothing that existed before, so running their calls again is harmless;
// what the program already saw of them has the same bits.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "src/core/check.h"
#include "src/core/faults.h"
#include "tracer/calls/numbers.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/replay/replay.h"
#include "tracer/tell/coverage.h"

namespace groove::tracer {
namespace {

class GradModeScope {
 public:
  explicit GradModeScope(bool is_enabled) : previous_(grad_enabled()) {
    set_grad_enabled(is_enabled);
  }
  ~GradModeScope() { set_grad_enabled(previous_); }
  GradModeScope(const GradModeScope&) = delete;
  GradModeScope& operator=(const GradModeScope&) = delete;

 private:
  bool previous_;
};

// Results of a call, of which most have few: as many as there are, made where this stands.
class Results {
 public:
  explicit Results(std::size_t count) : count_(count) {
    if (count > kFew) data_ = static_cast<Tensor*>(allocate_object(count * sizeof(Tensor)));
    std::uninitialized_value_construct_n(data_, count);
  }
  ~Results() {
    std::destroy_n(data_, count_);
    if (count_ > kFew) deallocate_object(data_, count_ * sizeof(Tensor));
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  Tensor* data() { return data_; }

 private:
  static constexpr std::size_t kFew = 4;
  std::size_t count_;
  alignas(Tensor) std::byte few_[kFew * sizeof(Tensor)];
  Tensor* data_ = reinterpret_cast<Tensor*>(few_);
};

}  // namespace

TensorImpl* Replay::known(SlotId id) const {
  if (id == kNoSlot) return nullptr;
  const Live& live = live_[static_cast<std::size_t>(id)];
  GROOVE_ASSERT(live.run == run_);
  return live.object;
}

Tensor Replay::operand(SlotId id) const { return Tensor(known(id)); }

std::vector<Scalar> Replay::numbers_of(const RecordedCall& call) const {
  std::vector<Scalar> numbers;
  for (std::size_t i = 0; i < call.number_kinds.size(); ++i) numbers.push_back(number_of(call, i));
  return numbers;
}

Scalar Replay::number_of(const RecordedCall& call, std::size_t i) const {
  return number_in(scalars_[static_cast<std::size_t>(call.first_number) + i], call.number_kinds[i]);
}

// The pending handle the user holds becomes the result of the eager run. One that a stage made
// real before keeps its memory, whose address the program may know; the bits are the same.
void Replay::bind_result(SlotId id, Tensor result) {
  Live& live = live_[static_cast<std::size_t>(id)];
  TensorImpl& to = *live.object;
  TensorImpl& from = *result.impl();
  if (&to == &from) return;
  const bool is_only_here = !rerun_ && from.use_count() == 1;
  const bool has_same_layout =
      to.geometry.sizes == from.geometry.sizes && to.geometry.strides == from.geometry.strides;
  if (!live.is_filled || !has_same_layout) {
    if (!has_same_layout || to.geometry.offset != from.geometry.offset)
      to.set_geometry(from.geometry);
    to.storage = is_only_here ? std::move(from.storage) : from.storage;
    live.is_filled = true;
  } else if (!has_fault(Fault::kRepeatedWriteLost) && to.storage.get() != from.storage.get() &&
             (is_comparing_ || to.storage->version != from.storage->version ||
              to.storage->unnoticed != from.storage->unnoticed)) {
    // Writes in place that the stage has done already: they run, and count, again, and calls before
    // them read what was there first.
    std::memcpy(to.data(), from.data(), span_bytes(from));
    to.storage->version = from.storage->version;
    to.storage->unnoticed = from.storage->unnoticed;
  }
  live.epoch = kNotReusable;  // it carries a real history now
  if (tape_hooks().move_history) tape_hooks().move_history(from, to);
  to.requires_grad = from.requires_grad;
  to.is_pending = false;  // now complete for every thread
  if (rerun_) rerun_->became(from, to);
}

void Replay::rerun_call_of_library(const RecordedCall& recorded, const std::vector<Tensor>& inputs,
                                   std::shared_ptr<Script>& script, TapeNode* code,
                                   std::vector<Tensor>& results) {
  if (tape_hooks().run_again &&
      tape_hooks().run_again(*recorded.op, recorded.attrs, inputs, code, script, &results)) {
    for (const LeafGrad& effect : recorded.effects) {
      if (effect.grad == kNoSlot) continue;
      AutogradMeta& meta = autograd_meta(*live_[static_cast<std::size_t>(effect.leaf)].object);
      Live& grad = live_[static_cast<std::size_t>(effect.grad)];
      if (segment_->slots[static_cast<std::size_t>(effect.grad)].is_live_in) continue;
      if (meta.grad.defined()) bind_result(effect.grad, meta.grad);
      meta.grad = Tensor(grad.object);
    }
    return;
  }
  // A library call without the tape (zero_grad): its recorded calls and effects.
  if (rerun_)
    for (const LeafGrad& known : recorded.grads_before)
      rerun_->use_grad(*live_[static_cast<std::size_t>(known.leaf)].object);
  const std::vector<Scalar> own = numbers_of(recorded);
  for (const NestedCall& nested : recorded.nested) {
    std::vector<Tensor> operands;
    for (const SlotId id : nested.inputs) operands.push_back(operand(id));
    std::vector<Scalar> numbers;
    for (const NumberRef& ref : nested.numbers)
      numbers.push_back(ref.entry < 0
                            ? ref.constant
                            : own[static_cast<std::size_t>(ref.entry - recorded.first_number)]);
    std::vector<Tensor> made(output_count(*nested.op, nested.attrs));
    const Call call{nested.op, operands,        &nested.attrs,
                    numbers,   recorded.source, nested.is_inplace};
    if (rerun_)
      rerun_->nested(call, made.data());
    else
      run_eager(call, made.data());
    for (std::size_t k = 0; k < made.size(); ++k) {
      const SlotId id = nested.outputs[k];
      if (id == kNoSlot || nested.is_inplace) continue;
      Live& live = live_[static_cast<std::size_t>(id)];
      if (live.run != run_) {  // a value the program never saw
        live.impl = groove::detail::RefPtr<TensorImpl>(made[k].impl());
        live.object = made[k].impl();
        live.run = run_;
        live.is_filled = true;
        live.epoch = kNotReusable;
      } else {
        bind_result(id, made[k]);
      }
    }
  }
  for (const LeafGrad& effect : recorded.effects) {
    TensorImpl& leaf = *live_[static_cast<std::size_t>(effect.leaf)].object;
    const Tensor grad = operand(effect.grad);
    if (rerun_) rerun_->set_grad(leaf, grad);
    autograd_meta(leaf).grad = grad;
  }
  for (const FlagEffect& flag : recorded.flags)
    live_[static_cast<std::size_t>(flag.slot)].object->requires_grad = flag.after;
}

void Replay::rerun(std::size_t w) {
  const RecordedCall& recorded = segment_->calls[w];
  const GradModeScope mode(recorded.grad_enabled || has_fault(Fault::kLeftInWrongGradMode));
  if (recorded.is_library_call) return rerun_library_call(w);
  SmallVector<Borrowed, 4> inputs;  // the run holds what it knows
  for (const SlotId id : recorded.inputs) inputs.push_back(known(id));
  SmallVector<Scalar, 4> numbers;
  for (std::size_t i = 0; i < recorded.number_kinds.size(); ++i)
    numbers.push_back(number_of(recorded, i));
  Results results(recorded.outputs.size());
  const Call call{recorded.op,     as_tensors(inputs.data(), inputs.size()),
                  &recorded.attrs, numbers,
                  recorded.source, recorded.is_inplace};
  if (rerun_)
    rerun_->call(call, recorded.site, results.data());
  else
    run_eager(call, results.data());
  bind_results(recorded, results.data());
}

void Replay::bind_results(const RecordedCall& call, Tensor* results) {
  for (std::size_t k = 0; k < call.outputs.size(); ++k)
    if (call.gives_new(k)) bind_result(call.outputs[k], std::move(results[k]));
}

// Null: what the call has no use for.
std::vector<TensorImpl*> Replay::walked_by(const RecordedCall& call) const {
  std::vector<TensorImpl*> walked(call.walked);
  for (std::size_t k = 0; k < call.nested_live_ins.size(); ++k)
    if (const std::int32_t place = call.nested_places[k]; place >= 0)
      walked[static_cast<std::size_t>(place)] =
          live_[static_cast<std::size_t>(call.nested_live_ins[k])].object;
  for (const auto& [place, slot] : call.walked_results)
    walked[static_cast<std::size_t>(place)] = live_[static_cast<std::size_t>(slot)].object;
  for (const auto& [later, earlier] : call.twins)
    walked[static_cast<std::size_t>(later)] = walked[static_cast<std::size_t>(earlier)];
  return walked;
}

void Replay::rerun_library_call(std::size_t w) {
  const RecordedCall& call = segment_->calls[w];
  std::vector<Tensor> inputs, results;
  for (const SlotId id : call.inputs) inputs.push_back(operand(id));
  std::shared_ptr<Script> script = script_of_rerun(w);
  TapeNodePtr code = script ? script->user_code : TapeNodePtr();
  for (const auto& [at, attached] : code_)
    if (at == w) code = attached;
  if (rerun_) {
    const std::vector<Scalar> numbers = numbers_of(call);
    const std::vector<TensorImpl*> walked = walked_by(call);
    LibraryCall big{call.op,     inputs, &call.attrs,    numbers,
                    call.source, walked, call.structure, call.ends_step};
    big.results = &results;
    big.code_role = call.code_role;
    big.user_code = code.get();
    if (call.code_role == CodeRole::kWalks || call.code_role == CodeRole::kResumes)
      big.script = &script;
    const auto expand = [&] { rerun_call_of_library(call, inputs, script, code.get(), results); };
    rerun_->library_call(
        big, call.site, [](void* run) { (*static_cast<decltype(expand)*>(run))(); },
        const_cast<void*>(static_cast<const void*>(&expand)));
  } else {
    rerun_call_of_library(call, inputs, script, code.get(), results);
  }
  const bool has_code = call.code_role != CodeRole::kNone;
  if (has_code && script) results = script->arguments;
  bind_results(call, results.data());
  if (has_code) stop_rerun(call, std::move(script));
}

// Exposed memory that the program may have changed since the call read it, or freed where it is the
// program's own: the call runs on copies of what it held at that time. What it writes of foreign
// memory, and what nobody has changed, is written where it is. A library call walks whatever was
// bound before it.
Replay::AsRead Replay::as_read(std::size_t w) {
  AsRead copies;
  if (!has_exposed_ || has_fault(Fault::kSnapshotNotRestored)) return copies;
  const RecordedCall& call = segment_->calls[w];
  const auto is_written = [&](const Storage* storage) {
    return std::any_of(call.written_live_ins.begin(), call.written_live_ins.end(), [&](SlotId id) {
      return live_[static_cast<std::size_t>(id)].object->storage.get() == storage;
    });
  };
  const auto consider = [&](SlotId id) {
    if (id == kNoSlot) return;
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (!slot.is_live_in) id = segment_->storages[static_cast<std::size_t>(slot.storage)].base;
    Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || live.bound_at > w || live.snapshot.empty() || copies.has(live)) return;
    const Storage& storage = *live.object->storage;
    const bool is_foreign = storage.flags & Storage::kForeign;
    if (!is_written(&storage) || has_fault(Fault::kWrittenOnCopy) ||
        (!is_foreign && !snapshot_is_current(live)))
      copies.add(live);
  };
  for (const SlotId id : call.is_library_call ? segment_->live_ins : call.inputs) consider(id);
  for (const SlotId id : call.nested_live_ins) consider(id);
  return copies;
}

bool Replay::AsRead::has(const Live& live) const {
  return std::find(lives.begin(), lives.end(), &live) != lives.end();
}

// As much of the storage as is known: more with each live-in in it.
void Replay::AsRead::add(Live& live) {
  lives.push_back(&live);
  const StoragePtr& storage = live.object->storage;
  auto known = std::find_if(stand_ins.begin(), stand_ins.end(),
                            [&](const StandIn& other) { return other.of == storage; });
  if (known == stand_ins.end()) {
    known = stand_ins.insert(known, {storage, make_storage()});
    bytes.emplace_back();
  }
  std::vector<char>& copy = bytes[static_cast<std::size_t>(known - stand_ins.begin())];
  const std::size_t begin = offset_of(live);
  copy.resize(std::max(copy.size(), begin + live.snapshot.size()));
  std::memcpy(copy.data() + begin, live.snapshot.data(), live.snapshot.size());
  known->memory->data = copy.data();
  known->memory->bytes = copy.size();
}

std::size_t Replay::AsRead::offset_of(const Live& live) {
  return static_cast<std::size_t>(static_cast<char*>(live.object->data()) -
                                  static_cast<char*>(live.object->storage->data));
}

// What the call itself has changed is what later calls read.
void Replay::keep_as_written(Live& live, const AsRead& copies) {
  if (live.run != run_ || live.snapshot.empty()) return;
  const Storage* memory = live.object->storage.get();
  for (const StandIn& other : copies.stand_ins)
    if (other.of.get() == memory) memory = other.memory.get();
  std::memcpy(live.snapshot.data(),
              static_cast<const char*>(memory->data) + AsRead::offset_of(live),
              live.snapshot.size());
}

// The program looked at these results before call `at`, in this run or before it was switched.
void Replay::show_again(std::size_t at) {
  const std::int32_t seen = std::max(next_stage_, owed_stages_);
  for (const StageEnd& end : segment_->stage_ends)
    if (static_cast<std::size_t>(end.after) == at && end.stage < seen)
      rerun_->looked_at(*live_[static_cast<std::size_t>(end.slot)].object);
}

Replay::BeingMade::BeingMade(const Replay& run) {
  for (const SlotId id : run.written_) {
    const Live& live = run.live_[static_cast<std::size_t>(id)];
    if (!run.owes(live)) continue;
    Storage& storage = *live.object->storage;
    storage.flags = (storage.flags & ~Storage::kOwed) | Storage::kBeingMade;
    storages_.push_back(live.object->storage);
  }
}

Replay::BeingMade::~BeingMade() {
  for (const StoragePtr& storage : storages_) storage->flags &= ~Storage::kBeingMade;
}

void Replay::run_eagerly(std::size_t skip_last, Rerun* with) {
  rerun_ = with;
  was_left_ = true;
  const BeingMade being_made(*this);
  const std::size_t count = matched_ - skip_last;
  auto by_hand = gradients_set_by_hand(matched_);
  restore_flags();
  for (std::size_t w = 0; w < count; ++w) {
    if (with) show_again(w);
    restore_gradients(segment_->calls[w]);
    AsRead copies = as_read(w);
    {
      const StandInScope scope(copies.stand_ins);
      rerun(w);
    }
    if (with) with->call_is_over(segment_->calls[w]);
    for (const SlotId id : segment_->calls[w].written_live_ins)
      keep_as_written(live_[static_cast<std::size_t>(id)], copies);
  }
  if (with) show_again(count);
  rerun_ = nullptr;
  hand_over_walks();
  put_back(by_hand);
  // A call left to the caller has handed out handles for gradients; its expansion sets them anew.
  if (skip_last > 0) restore_gradients(segment_->calls[count]);
}

}  // namespace groove::tracer
