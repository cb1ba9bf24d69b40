// Lines that take any tensors: a loop over some of many (what a buffer holds of the last steps,
// say) has one of them twice in this iteration, and not in the next.
#include <algorithm>

#include "src/core/autograd_meta.h"
#include "tracer/record/recorder.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {

// Does it matter for nothing else which tensor this is: neither for gradients nor for writes?
bool Recorder::may_be_any(const Tensor& tensor) const {
  if (!tensor.defined()) return false;
  const TensorImpl& impl = *tensor.impl();
  const AutogradMeta* const meta = impl.autograd;
  if (impl.requires_grad || (meta && (meta->grad_fn || meta->hooks != 0)) || !impl.storage ||
      impl.storage->flags & Storage::kExposed)
    return false;
  const SlotId known = known_slot(impl);
  const std::int32_t storage = known == kNoSlot
                                   ? known_storage(impl.storage)
                                   : segment_->slots[static_cast<std::size_t>(known)].storage;
  if (known != kNoSlot && !segment_->slots[static_cast<std::size_t>(known)].is_live_in)
    return false;
  if (storage < 0) return true;
  const StorageInfo& info = segment_->storages[static_cast<std::size_t>(storage)];
  return info.is_live_in && info.writes == 0;
}

// What the operands of the call that opens may be.
Operands Recorder::operands_of_call(const Call& call, std::uint64_t line) {
  if (line == 0) return Operands::kWritten;
  const Operands known = operands_of(line);
  current().takes_any_operands = take_any(known);
  return is_on_tape(call) ? Operands::kWritten : known;
}

// A line that has had different tensors takes any: what is the same now is so by chance.
bool Recorder::is_any(Operands operands, std::uint64_t operand, const TensorImpl& impl) {
  if (operands != Operands::kAsRecorded) return take_any(operands);
  const TensorImpl*& first = first_operands_.try_emplace(operand, &impl).first->second;
  if (first != &impl) first = nullptr;
  return first == nullptr;
}

// What an operand of a line that takes any tensor was before, it is by chance: it is another input,
// and for other lines what it was.
SlotId Recorder::operand_of(const Call& call, std::size_t k, Operands operands,
                            std::uint64_t line) {
  const Tensor& tensor = call.inputs[k];
  const std::vector<int>& written = call.op->mutates;
  if (operands == Operands::kWritten || !may_be_any(tensor) ||
      (call.is_inplace &&
       std::find(written.begin(), written.end(), static_cast<int>(k)) != written.end()) ||
      !is_any(operands, mixed(line, k), *tensor.impl()))
    return slot_of(tensor);
  current().takes_any_operands = true;
  TensorImpl& impl = *tensor.impl();
  const SlotId known = known_slot(impl);
  if (known == kNoSlot) return slot_of(tensor);
  renamed_.push_back({tensor, known, impl.trace_session, impl.trace_id});
  any_operands_[impl.storage.get()] = line;
  return add_live_in(tensor, kNoSlot);
}

// What the iteration has made must be there before the first of the line's calls: all that they
// take existed before then.
bool Recorder::begins_line_of_made(const Call& call, const SiteKey& site) const {
  if (calls() == 0) return false;
  const RecordedCall& last = segment_->calls.back();
  const std::uint64_t line = line_of(*call.op, site);
  return line_of(*last.op, last.site) != line && operands_of(line) == Operands::kAnyOrMade;
}

void Recorder::restore_names() {
  for (; !renamed_.empty(); renamed_.pop_back()) {
    const Renamed& last = renamed_.back();
    TensorImpl& impl = *last.tensor.impl();
    live_in_slots_[&impl] = last.known;
    impl.trace_session = last.session;
    impl.trace_id = last.id;
  }
}

// What is read as any tensor and written as a certain one would be two inputs, of one memory.
void Recorder::note_written(const StoragePtr& memory) {
  const auto read = any_operands_.find(memory.get());
  if (read == any_operands_.end()) return;
  add_written_operand(read->second);
  has_learned_ = true;
  fail(Reason::kUnknownAlias);
}

}  // namespace groove::tracer
