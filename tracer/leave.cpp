// Replay, the way out: what has matched runs eagerly, from the first word on. Compiled stages that
// ran before the end wrote nothing that existed before, so running their words again is harmless;
// what the program already saw of them has the same bits.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "src/core/check.h"
#include "src/core/faults.h"
#include "tracer/coverage.h"
#include "tracer/numbers.h"
#include "tracer/replay.h"
#include "tracer/tape_hooks.h"

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

// Operands, results and numbers of a word, of which most have few.
template <typename T>
class FewOf {
 public:
  explicit FewOf(std::size_t count) : count_(count) {
    if (count > kFew) many_.resize(count);
  }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  operator ArrayRef<T>() { return {data(), count_}; }

 private:
  static constexpr std::size_t kFew = 4;
  std::size_t count_;
  std::array<T, kFew> few_{};
  std::vector<T> many_;
};

}  // namespace

Tensor Replay::operand(SlotId id) {
  if (id == kNoSlot) return Tensor();
  Live& live = live_[static_cast<std::size_t>(id)];
  GROOVE_ASSERT(live.run == run_);
  hold(live);
  return Tensor(live.object);
}

std::vector<Scalar> Replay::numbers_of(const Word& word) const {
  std::vector<Scalar> numbers;
  for (std::size_t i = 0; i < word.number_kinds.size(); ++i) numbers.push_back(number_of(word, i));
  return numbers;
}

Scalar Replay::number_of(const Word& word, std::size_t i) const {
  return number_in(scalars_[static_cast<std::size_t>(word.first_number) + i],
                   word.number_kinds[i]);
}

// The pending handle the user holds becomes the result of the eager run. One that a stage made
// real before keeps its memory, whose address the program may know; the bits are the same.
void Replay::bind_result(SlotId id, const Tensor& result) {
  Live& live = live_[static_cast<std::size_t>(id)];
  TensorImpl& to = *live.object;
  TensorImpl& from = *result.impl();
  if (&to == &from) return;
  const bool has_same_layout =
      to.geometry.sizes == from.geometry.sizes && to.geometry.strides == from.geometry.strides;
  if (!live.is_filled || !has_same_layout) {
    to.storage = from.storage;
    to.set_geometry(from.geometry);
    live.is_filled = true;
  } else if (!has_fault(Fault::kRepeatedWriteLost) && to.storage.get() != from.storage.get() &&
             (is_comparing_ || to.storage->version != from.storage->version ||
              to.storage->unnoticed != from.storage->unnoticed)) {
    // Writes in place that the stage has done already: they run, and count, again, and words before
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

void Replay::rerun_big(const Word& word, const std::vector<Tensor>& inputs,
                       std::shared_ptr<Script>& script, TapeNode* code,
                       std::vector<Tensor>& results) {
  if (tape_hooks().run_again &&
      tape_hooks().run_again(*word.op, word.attrs, inputs, code, script, &results)) {
    for (const LeafGrad& effect : word.effects) {
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
    for (const LeafGrad& known : word.grads_before)
      rerun_->use_grad(*live_[static_cast<std::size_t>(known.leaf)].object);
  const std::vector<Scalar> own = numbers_of(word);
  for (const NestedCall& nested : word.nested) {
    std::vector<Tensor> operands;
    for (const SlotId id : nested.inputs) operands.push_back(operand(id));
    std::vector<Scalar> numbers;
    for (const NumberRef& ref : nested.numbers)
      numbers.push_back(ref.entry < 0
                            ? ref.constant
                            : own[static_cast<std::size_t>(ref.entry - word.first_number)]);
    std::vector<Tensor> made(output_count(*nested.op, nested.attrs));
    const Call call{nested.op, operands, &nested.attrs, numbers, word.place, nested.is_inplace};
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
  for (const LeafGrad& effect : word.effects) {
    TensorImpl& leaf = *live_[static_cast<std::size_t>(effect.leaf)].object;
    const Tensor grad = operand(effect.grad);
    if (rerun_) rerun_->set_grad(leaf, grad);
    autograd_meta(leaf).grad = grad;
  }
  for (const FlagEffect& flag : word.flags)
    live_[static_cast<std::size_t>(flag.slot)].object->requires_grad = flag.after;
}

void Replay::rerun(std::size_t w) {
  const Word& word = segment_->words[w];
  const GradModeScope mode(word.grad_enabled || has_fault(Fault::kLeftInWrongGradMode));
  if (word.is_big) return rerun_library_call(w);
  FewOf<Tensor> inputs(word.inputs.size()), results(word.outputs.size());
  for (std::size_t i = 0; i < word.inputs.size(); ++i) inputs[i] = operand(word.inputs[i]);
  FewOf<Scalar> numbers(word.number_kinds.size());
  for (std::size_t i = 0; i < word.number_kinds.size(); ++i) numbers[i] = number_of(word, i);
  const Call call{word.op, inputs, &word.attrs, numbers, word.place, word.is_inplace};
  if (rerun_)
    rerun_->call(call, word.site, results.data());
  else
    run_eager(call, results.data());
  bind_results(word, results);
}

void Replay::bind_results(const Word& word, ArrayRef<Tensor> results) {
  for (std::size_t k = 0; k < word.outputs.size(); ++k)
    if (word.outputs[k] != kNoSlot && word.output_is_new[k])
      bind_result(word.outputs[k], results[k]);
}

void Replay::rerun_library_call(std::size_t w) {
  const Word& word = segment_->words[w];
  std::vector<Tensor> inputs, results;
  for (const SlotId id : word.inputs) inputs.push_back(operand(id));
  std::shared_ptr<Script> script = script_of_rerun(w);
  TapeNodePtr code = script ? script->user_code : TapeNodePtr();
  for (const auto& [at, attached] : code_)
    if (at == w) code = attached;
  if (rerun_) {
    const std::vector<Scalar> numbers = numbers_of(word);
    BigWord big{word.op,    inputs,      &word.attrs, numbers,
                word.place, word.object, word.epoch,  word.ends_step};
    big.results = &results;
    big.code_role = word.code_role;
    big.user_code = code.get();
    if (word.code_role == CodeRole::kWalks || word.code_role == CodeRole::kResumes)
      big.script = &script;
    const auto expand = [&] { rerun_big(word, inputs, script, code.get(), results); };
    rerun_->library_call(
        big, word.site, [](void* run) { (*static_cast<decltype(expand)*>(run))(); },
        const_cast<void*>(static_cast<const void*>(&expand)));
  } else {
    rerun_big(word, inputs, script, code.get(), results);
  }
  const bool has_code = word.code_role != CodeRole::kNone;
  bind_results(word, has_code && script ? script->arguments : results);
  if (has_code) stop_rerun(word, std::move(script));
}

// Exposed memory that the program may have changed since the word read it shows what it held at
// that time while the word runs: its content is exchanged; memory of the program's own may be gone
// by now, and so the storage stands on the copy. What the word writes is as it is. A library call
// walks whatever was bound before it.
Replay::AsRead Replay::show_as_read(std::size_t w) {
  AsRead shown;
  if (!has_exposed_ || has_fault(Fault::kSnapshotNotRestored)) return shown;
  const Word& word = segment_->words[w];
  const auto is_written = [&](const Storage* storage) {
    return std::any_of(word.written_live_ins.begin(), word.written_live_ins.end(), [&](SlotId id) {
      return live_[static_cast<std::size_t>(id)].object->storage.get() == storage;
    });
  };
  const auto consider = [&](SlotId id) {
    if (id == kNoSlot) return;
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (!slot.is_live_in) id = segment_->storages[static_cast<std::size_t>(slot.storage)].base;
    Live& live = live_[static_cast<std::size_t>(id)];
    if (live.run != run_ || live.bound_at > w || live.snapshot.empty()) return;
    // Two operands may be views of one live-in, whose snapshot is what the program wrote by now.
    if (std::find(shown.exchanged.begin(), shown.exchanged.end(), &live) != shown.exchanged.end())
      return;
    Storage& storage = *live.object->storage;
    if (storage.flags & Storage::kForeign) {
      if (!is_written(&storage) || has_fault(Fault::kWrittenOnCopy)) shown.stand_on_copy(live);
    } else if (!snapshot_is_current(live)) {
      std::swap_ranges(live.snapshot.begin(), live.snapshot.end(),
                       static_cast<unsigned char*>(live.object->data()));
      shown.exchanged.push_back(&live);
    }
  };
  for (const SlotId id : word.is_big ? segment_->live_ins : word.inputs) consider(id);
  for (const SlotId id : word.nested_live_ins) consider(id);
  return shown;
}

// The storage stands on a copy of as much of it as is known: more with each live-in in it.
void Replay::AsRead::stand_on_copy(const Live& live) {
  StoragePtr storage = live.object->storage;
  auto known = std::find_if(on_copies.begin(), on_copies.end(),
                            [&](const OnCopy& other) { return other.storage == storage; });
  if (known == on_copies.end())
    known = on_copies.insert(known, {storage, static_cast<char*>(storage->data), {}});
  storage->data = known->memory;
  const auto begin =
      static_cast<std::size_t>(static_cast<char*>(live.object->data()) - known->memory);
  known->copy.resize(std::max(known->copy.size(), begin + live.snapshot.size()));
  std::copy(live.snapshot.begin(), live.snapshot.end(), known->copy.data() + begin);
  storage->data = known->copy.data();
}

// In reverse, because two live-ins may share memory.
void Replay::AsRead::end() {
  if (std::exchange(is_over, true)) return;
  for (auto live = exchanged.rbegin(); live != exchanged.rend(); ++live)
    std::swap_ranges((*live)->snapshot.begin(), (*live)->snapshot.end(),
                     static_cast<unsigned char*>((*live)->object->data()));
  for (const OnCopy& each : on_copies) each.storage->data = each.memory;
}

// The program looked at these results before word `at`, in this run or before it was taken over.
void Replay::show_again(std::size_t at) {
  const std::int32_t seen = std::max(next_stage_, owed_stages_);
  for (const StageEnd& end : segment_->stage_ends)
    if (static_cast<std::size_t>(end.after) == at && end.stage < seen)
      rerun_->looked_at(*live_[static_cast<std::size_t>(end.slot)].object);
}

void Replay::run_eagerly(std::size_t skip_last, Rerun* with) {
  rerun_ = with;
  was_left_ = true;
  clear_owed();
  const std::size_t count = matched_ - skip_last;
  auto by_hand = gradients_set_by_hand(matched_);
  restore_flags();
  for (std::size_t w = 0; w < count; ++w) {
    if (with) show_again(w);
    AsRead shown = show_as_read(w);
    restore_gradients(segment_->words[w]);
    rerun(w);
    shown.end();
    if (with) with->word_is_over(segment_->words[w]);
    // What the word itself changed is what later words read.
    for (const SlotId id : segment_->words[w].written_live_ins) {
      Live& live = live_[static_cast<std::size_t>(id)];
      if (live.run != run_ || live.snapshot.empty() ||
          std::find(shown.exchanged.begin(), shown.exchanged.end(), &live) != shown.exchanged.end())
        continue;
      const auto* const memory = static_cast<const unsigned char*>(live.object->data());
      std::copy(memory, memory + live.snapshot.size(), live.snapshot.begin());
    }
  }
  if (with) show_again(count);
  rerun_ = nullptr;
  hand_over_walks();
  put_back(by_hand);
  // A word left to the caller has handed out handles for gradients; its expansion sets them anew.
  if (skip_last > 0) restore_gradients(segment_->words[count]);
}

}  // namespace groove::tracer
