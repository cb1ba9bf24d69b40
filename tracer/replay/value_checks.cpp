// Errors that depend on values: an operator with a check looks at an input when it is called,
// unless the producer of that input keeps its values within what the check allows. Such a proof may
// rest on numbers of the segment; a run with others proves it anew.
#include "src/core/graph_ranges.h"
#include "src/core/pooled.h"
#include "tracer/record/recorder.h"
#include "tracer/replay/replay.h"

namespace groove::tracer {
namespace {

PooledVector<Type> types_of(const Call& call) {
  PooledVector<Type> types;
  types.reserve(call.inputs.size());
  for (const Tensor& input : call.inputs)
    types.push_back(input.defined() ? Type{input.impl()->dtype, input.impl()->geometry.sizes}
                                    : Type{ScalarType::Undefined, {}});
  return types;
}

}  // namespace

// Before the call of the call has anything in it: a value that must be looked at ends a stage.
CheckedValue Recorder::prepare_check(const Call& call, SlotId slot) {
  CheckedValue checked;
  if (!call.op->check || slot == kNoSlot || in_expansion_) return checked;
  const Slot& info = segment_->slots[static_cast<std::size_t>(slot)];
  const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(info.storage)];
  if (storage.is_live_in && storage.writes == 0) return checked;
  if (call.op->allowed) {
    const PooledVector<Type> types = types_of(call);
    const ValueId value = read(slot);
    log_->build(segment_->graph, *segment_);
    const ValueRange range =
        range_of(segment_->graph, value, KnownNumbers{.words = nullptr, .read = &checked.numbers});
    const Signature signature{*call.op, types, *call.attrs, call.numbers};
    if (call.op->allowed(signature).holds(range)) {
      checked.value = value;
      return checked;
    }
    checked.numbers.clear();
  }
  segment_->calls.pop_back();
  add_stage_end(slot);
  segment_->calls.emplace_back();
  return checked;
}

// True when the call's values are fine; false when the run was left to look at them. Throws what
// the check throws.
bool Replay::check_values(const Call& call, const RecordedCall& recorded) {
  const bool has_proof = recorded.checked.value != kNoValue;
  bool is_proven = has_proof;
  for (const auto& [number, bits] : recorded.checked.numbers)
    is_proven &= scalars_[static_cast<std::size_t>(number)] == bits;
  if (is_proven) return true;
  const PooledVector<Type> types = types_of(call);
  const Signature signature{*call.op, types, *call.attrs, call.numbers};
  if (has_proof && call.op->allowed(signature).holds(range_of(
                       segment_->graph, recorded.checked.value, KnownNumbers{scalars_.data()})))
    return true;
  const Tensor& read = call.inputs[static_cast<std::size_t>(call.op->check_reads)];
  const std::uint64_t run = run_;
  if (read.defined()) materialize(*read.impl());
  if (run_ != run) return false;
  call.op->check(signature, call.inputs);
  return true;
}

}  // namespace groove::tracer
