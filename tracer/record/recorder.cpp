#include "tracer/record/recorder.h"

#include <algorithm>
#include <utility>

#include "kernels/lowering.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/geometry.h"
#include "src/core/keep_loaded.h"
#include "tracer/calls/numbers.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/threads.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kMostNumbers = 32'000;  // an origin is 16 bits wide

// A library call makes many calls: some of them are timed, and count for the others.
class SampledOverhead {
 public:
  SampledOverhead(std::int64_t& total, std::uint32_t call)
      : total_(total), start_(call % kEvery == 0 ? nanoseconds_now() : 0) {}
  ~SampledOverhead() {
    if (start_ != 0) total_ += kEvery * (nanoseconds_now() - start_);
  }
  SampledOverhead(const SampledOverhead&) = delete;
  SampledOverhead& operator=(const SampledOverhead&) = delete;

 private:
  static constexpr std::uint32_t kEvery = 8;
  std::int64_t& total_;
  std::int64_t start_;
};

}  // namespace

Recorder::Recorder(std::uint64_t head, std::uint64_t session, Moving moving, Widened widened)
    : session_(session),
      moving_(std::move(moving)),
      segment_(std::make_shared<Segment>()),
      widened_(std::move(widened)) {
  segment_->head = head;
  used_.fill(kNoSlot);
  first_position_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
}

// What it has seen is no tensor of a recording or replay any more.
Recorder::~Recorder() {
  for (const Tensor& object : objects_)
    if (object.defined() && object.impl()->trace_session == session_)
      forget_session(*object.impl());
}

void Recorder::expect(std::size_t calls) {
  constexpr std::size_t kMost = 2048, kSlots = 4;  // a call has more in its expansion
  const std::size_t count = std::min(calls, kMost);
  segment_->calls.reserve(count + 1);
  segment_->slots.reserve(kSlots * count);
  objects_.reserve(kSlots * count);
  storage_objects_.reserve(kSlots * count);
  storage_index_.reserve(kSlots * count);
}

void Recorder::fail(Reason reason) {
  if (!failure_) failure_ = reason;
}

// ---- slots and values ----

SlotId Recorder::add_slot(TensorImpl& impl) {
  const auto id = static_cast<SlotId>(segment_->slots.size());
  Slot slot;
  slot.type = {impl.dtype, impl.geometry.sizes};
  slot.strides = impl.geometry.strides;
  slot.requires_grad = impl.requires_grad;
  slot.counts_apart = impl.counts_apart;
  slot.requires_by_base = requires_grad_by_base(impl);
  slot.is_leaf = !impl.autograd || !impl.autograd->grad_fn;
  segment_->slots.push_back(std::move(slot));
  objects_.push_back(Tensor(&impl));
  cached_.push_back({});
  noted_.push_back({});
  histories_.emplace_back();
  // What the recording of another thread has made keeps its mark: this one knows it as a live-in.
  const std::uint64_t known = impl.trace_session;
  if (known != 0 && !is_of_runs(known) && !have_one_owner(known, session_)) return id;
  impl.trace_session = session_;
  impl.trace_id = id;
  return id;
}

SlotId Recorder::known_slot(const TensorImpl& impl) const {
  // What the tensor says is true of the very object alone.
  if (const auto id = static_cast<std::size_t>(impl.trace_id);
      impl.trace_session == session_ && id < objects_.size() && objects_[id].impl() == &impl)
    return static_cast<SlotId>(id);
  if (const auto found = live_in_slots_.find(&impl); found != live_in_slots_.end())
    return found->second;
  if (impl.trace_session != session_) return kNoSlot;
  const SlotId id = impl.trace_id;
  return id < static_cast<SlotId>(segment_->slots.size()) ? id : kNoSlot;
}

std::int32_t Recorder::known_storage(const StoragePtr& storage) const {
  const auto found = storage_index_.find(storage.get());
  return found == storage_index_.end() ? -1 : found->second;
}

SlotId Recorder::slot_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNoSlot;
  TensorImpl& impl = *tensor.impl();
  const SlotId known = known_slot(impl);
  if (known != kNoSlot && !is_another_live_in(known)) {
    const bool is_live_in = segment_->slots[static_cast<std::size_t>(known)].is_live_in;
    // The tape would derive its history anew, at a node of its own.
    if (is_live_in && grad_enabled() && has_stale_history(impl)) fail(Reason::kLiveInOnTape);
    if (is_live_in) pass_over_writes(known);
    if (in_expansion_ && is_live_in) note_nested_live_in(known, tensor);
    noted_[static_cast<std::size_t>(known)].used = static_cast<std::int32_t>(calls());
    return known;
  }
  return add_live_in(tensor, known);
}

// Something that existed before.
SlotId Recorder::add_live_in(const Tensor& tensor, SlotId known) {
  TensorImpl& impl = *tensor.impl();
  const SlotId id = add_slot(impl);
  noted_[static_cast<std::size_t>(id)].used = static_cast<std::int32_t>(calls());
  // What a tape saved and the program changed meanwhile is in every run what the tape saved there.
  if (known != kNoSlot && in_expansion_ && current().walked == 0)
    segment_->slots[static_cast<std::size_t>(id)].same_as = known;
  if (has_stale_history(impl)) stale_.push_back(id);
  Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  if (known != kNoSlot) {
    const SlotId first = segment_->slots[static_cast<std::size_t>(known)].again;
    slot.again = first == kNoSlot ? known : first;
  }
  slot.is_live_in = true;
  slot.hooks = impl.autograd ? impl.autograd->hooks : 0;
  note_history(id);
  live_in_slots_[&impl] = id;
  if (const std::int32_t storage = known_storage(impl.storage);
      storage >= 0 && !segment_->storages[static_cast<std::size_t>(storage)].is_live_in)
    fail(Reason::kUnknownAlias);
  const ValueId value = log_->add_input();
  add_storage(id, impl.storage, value, true);
  cached_[static_cast<std::size_t>(id)] = {value, 0, in_expansion_};
  segment_->live_ins.push_back(id);
  if (impl.storage->flags & Storage::kExposed) {
    keep_content(id);
    must_end_now_ |= is_too_large_to_keep(impl);
  }
  if (in_expansion_) note_nested_live_in(id, tensor);
  return id;
}

// A live-in that a library call finds by itself: the gradient of a known leaf, or what the call
// says it walks. (What a tape walks came from earlier calls.)
void Recorder::note_nested_live_in(SlotId id, const Tensor& tensor) {
  Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  slot.is_walked |= walked_.contains(tensor.impl());
  const bool is_found = slot.grad_of != kNoSlot || slot.same_as != kNoSlot || slot.is_walked;
  const bool is_first = !is_found && cached_[static_cast<std::size_t>(id)].is_fresh;
  if (slot.grad_of != kNoSlot || slot.same_as != kNoSlot || is_first || current().walked > 0)
    add_nested_live_in(id);
}

void Recorder::add_nested_live_in(SlotId id) {
  const auto now = static_cast<std::int32_t>(calls());
  if (std::exchange(noted_[static_cast<std::size_t>(id)].nested, now) == now) return;
  const auto found = walked_.find(objects_[static_cast<std::size_t>(id)].impl());
  current().nested_live_ins.push_back(id);
  current().nested_places.push_back(found == walked_.end() ? -1 : found->second);
}

// Which tensors the call that is opened walks, and by which of several places one is known.
void Recorder::note_walked(ArrayRef<TensorImpl*> walked) {
  walked_.clear();
  current().walked = walked.size();
  for (std::size_t i = 0; i < walked.size(); ++i) {
    const auto place = static_cast<std::int32_t>(i);
    if (const auto [known, is_new] = walked_.try_emplace(walked[i], place); !is_new) {
      current().twins.emplace_back(place, known->second);
      continue;
    }
    const SlotId slot = walked[i] ? known_slot(*walked[i]) : kNoSlot;
    if (slot != kNoSlot && !segment_->slots[static_cast<std::size_t>(slot)].is_live_in)
      current().walked_results.emplace_back(place, slot);
  }
}

ValueId Recorder::read(SlotId id) {
  if (id == kNoSlot) return kNoValue;
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(slot.storage)];
  if (storage.is_exposed && !failure_) {
    fail(Reason::kExposedWrite);
    add_filled(exposed_after_[slot.storage]);
    has_learned_ = true;
  }
  Cached& cached = cached_[static_cast<std::size_t>(id)];
  if (cached.value != kNoValue && (cached.writes == storage.writes || has_fault(Fault::kStaleView)))
    return cached.value;
  if (storage.base == id) {
    cached = {storage_value_[static_cast<std::size_t>(slot.storage)], storage.writes};
    return cached.value;
  }
  // The storage was written since: derive the view again from its parent.
  if (slot.parent == kNoSlot || slot.view_call < 0) {
    fail(Reason::kUnknownAlias);
    return cached.value;
  }
  const ValueId parent = read(slot.parent);
  const Node made = log_->node(slot.view_call);
  const std::int32_t node = log_->add_node(*made.op, parent, made.attrs, made.numbers, 1,
                                           made.source, segment_->stages - 1);
  Cached& again = cached_[static_cast<std::size_t>(id)];
  again = {log_->output(node, 0), storage.writes};
  return again.value;
}

void Recorder::add_storage(SlotId base, const StoragePtr& object, ValueId value, bool is_live_in) {
  const auto at = static_cast<std::int32_t>(segment_->storages.size());
  segment_->slots[static_cast<std::size_t>(base)].storage = at;
  StorageInfo info;
  info.base = base;
  info.is_live_in = is_live_in;
  segment_->storages.push_back(info);
  storage_objects_.push_back(object);
  storage_versions_.push_back(versions_of(*object));
  versions_left_.push_back(versions_of(*object));
  storage_value_.push_back(value);
  storage_index_[object.get()] = at;
}

// `dtype` is that of the value.
void Recorder::write(SlotId id, ValueId value, ScalarType dtype, bool is_unnoticed) {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  if (dtype != slot.type.dtype && !has_fault(Fault::kDroppedCast)) {
    static const Op* const cast = find_op("cast");
    GROOVE_ASSERT(cast != nullptr);
    Attrs attrs;
    attrs.add(slot.type.dtype);
    value = log_->output(log_->add_node(*cast, value, attrs, {}, 1, {}, segment_->stages - 1), 0);
  }
  StorageInfo& storage = segment_->storages[static_cast<std::size_t>(slot.storage)];
  if (storage.early_output >= 0) fail(Reason::kWrittenAfterRead);
  note_written(storage_objects_[static_cast<std::size_t>(slot.storage)]);
  if (storage.is_live_in &&
      storage_objects_[static_cast<std::size_t>(slot.storage)]->flags & Storage::kExposed)
    must_end_now_ = true;
  if (storage.is_live_in) current().written_live_ins.push_back(storage.base);
  storage.unnoticed += is_unnoticed;
  if (storage.base != id) {
    const std::optional<Region> where = region_in_base(id);
    if (!where) {
      fail(Reason::kDynamicWrite);
      return;
    }
    const bool moves = !where->starts.empty();
    static const Op* const write_strided = find_op("write_strided");
    static const Op* const write_moving = find_op("write_moving");
    GROOVE_ASSERT(write_strided != nullptr && write_moving != nullptr);
    Attrs attrs;
    attrs.add(IntArrayRef(where->geometry.sizes)).add(IntArrayRef(where->geometry.strides));
    attrs.add(where->geometry.offset);
    if (moves) attrs.add(IntArrayRef(where->steps)).add(IntArrayRef(where->extents));
    const ValueId operands[] = {read(storage.base), value};
    const std::int32_t node = log_->add_node(moves ? *write_moving : *write_strided, operands,
                                             attrs, where->starts, 1, {}, segment_->stages - 1);
    const ValueId whole = log_->output(node, 0);
    ++storage.writes;
    storage_value_[static_cast<std::size_t>(slot.storage)] = whole;
    cached_[static_cast<std::size_t>(storage.base)] = {whole, storage.writes};
    cached_[static_cast<std::size_t>(id)] = {value, storage.writes};
    return;
  }
  ++storage.writes;
  storage_value_[static_cast<std::size_t>(slot.storage)] = value;
  cached_[static_cast<std::size_t>(id)] = {value, storage.writes};
}

// ---- calls ----

Recorder::Prepared Recorder::prepare(const Call& call, std::uint64_t line) {
  Prepared prepared;
  const Operands operands = operands_of_call(call, line);
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    const SlotId slot = operand_of(call, k, operands, line);
    if (static_cast<int>(prepared.inputs.size()) == call.op->check_reads)
      prepared.checked = prepare_check(call, slot);
    prepared.inputs.push_back(slot);
  }
  for (const SlotId slot : prepared.inputs) {
    prepared.values.push_back(read(slot));
    note_use(slot);
  }
  if (!in_expansion_) return prepared;
  const auto now = static_cast<std::int32_t>(calls());
  for (const SlotId slot : prepared.inputs) {
    if (slot == kNoSlot) continue;
    const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(
        segment_->slots[static_cast<std::size_t>(slot)].storage)];
    if (!storage.is_live_in) continue;
    if (std::exchange(noted_[static_cast<std::size_t>(storage.base)].read, now) != now)
      current().read_live_ins.push_back(storage.base);
  }
  return prepared;
}

void Recorder::fill_call(RecordedCall& call, const Op& op, const Attrs& attrs,
                         ArrayRef<Scalar> numbers, const SiteKey& site, Site source) {
  call.op = &op;
  call.attrs = attrs;
  call.site = site;
  call.source = source;
  keep_loaded(site.file);
  keep_loaded(source.file_name());
  call.grad_enabled = grad_enabled();
  call.first_number = static_cast<std::int32_t>(segment_->number_kinds.size());
  for (const Scalar& number : numbers) {
    if (segment_->number_kinds.size() >= kMostNumbers) fail(Reason::kTooLong);
    call.number_kinds.push_back(number.type());
    segment_->number_kinds.push_back(number_kind(number));
    segment_values_.push_back(number_bits(number));
    segment_->graph.numbers.push_back(number_kind(number));
  }
  call.has_settled_position =
      op.kind == OpKind::kView && !numbers.empty() && !moving_.contains(segment_->calls.size() - 1);
  if (!call.has_settled_position) return;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    call.fixed_numbers.emplace_back(static_cast<std::int32_t>(i), number_bits(numbers[i]));
}

// A number of a recorded call: one of the segment's run-time numbers when it came from a call,
// otherwise a constant. (Library calls number their own from 0.)
NumberRef Recorder::number_ref(const Scalar& number) {
  NumberRef ref;
  ref.constant = number.with_origin(-1);
  if (number.origin() < 0) return ref;
  const bool is_relative = current().is_library_call && !current().number_kinds.empty();
  ref.entry = number.origin() + (is_relative ? current().first_number : 0);
  return ref;
}

std::vector<Scalar> Recorder::tagged(ArrayRef<Scalar> numbers) const {
  std::vector<Scalar> result;
  result.reserve(numbers.size());
  if (!failure_ && segment_->calls.back().has_settled_position) {
    for (const Scalar& number : numbers) result.push_back(number.with_origin(-1));
    return result;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    result.push_back(numbers[i].with_origin(
        failure_ ? -1 : segment_->calls.back().first_number + static_cast<int>(i)));
  return result;
}

void Recorder::number_was_read(int origin) {
  if (failure_ || segment_->calls.empty()) return;
  if (current().is_library_call && !current().number_kinds.empty())
    return;  // a library's own, and its business
  for (RecordedCall& known : segment_->calls) {
    const int index = origin - known.first_number;
    if (index < 0 || index >= static_cast<int>(known.number_kinds.size())) continue;
    for (const auto& fixed : known.fixed_numbers)
      if (fixed.first == index) return;
    known.fixed_numbers.emplace_back(index, segment_values_[static_cast<std::size_t>(origin)]);
    return;
  }
}

void Recorder::open(const Call& call, const SiteKey& site) {
  const Overhead timing(overhead_);
  if (failure_) return;
  const auto first_slot = static_cast<std::int32_t>(segment_->slots.size());
  segment_->calls.emplace_back();
  open_.push_back(prepare(call, line_of(*call.op, site)));
  RecordedCall& opened = current();
  opened.first_slot = first_slot;
  fill_call(opened, *call.op, *call.attrs, call.numbers, site, call.site);
  opened.is_inplace = call.is_inplace;
  opened.inputs.assign(open_.back().inputs.begin(), open_.back().inputs.end());
  opened.checked = open_.back().checked;
  sequence_at_open_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
}

void Recorder::close(const Call& call, Tensor* outputs) {
  const Overhead timing(overhead_);
  if (failure_ || open_.empty()) return;
  const Prepared prepared = std::move(open_.back());
  open_.pop_back();
  RecordedCall& closed = current();
  closed.tape_nodes = tape_hooks().sequence ? tape_hooks().sequence() - sequence_at_open_ : 0;
  note_derived_histories();
  Numbers numbers;
  for (const Scalar& number : tagged(call.numbers)) numbers.push_back(number_ref(number));
  record_results(call, prepared, outputs, numbers, closed.outputs, &closed.output_is_new);
  for (const SlotId slot : closed.outputs)
    if (slot != kNoSlot) segment_->slots[static_cast<std::size_t>(slot)].is_user_visible = true;
  if (call.is_inplace) note_apart(*call.op);
  restore_names();
  keep_widened();
}

// The dtype of result k of a call that runs in place, before it is written.
ScalarType Recorder::type_in_place(const Call& call, const Prepared& prepared,
                                   std::size_t k) const {
  std::vector<Type> types;
  types.reserve(prepared.inputs.size());
  for (const SlotId slot : prepared.inputs)
    types.push_back(slot == kNoSlot ? Type{ScalarType::Undefined, {}}
                                    : segment_->slots[static_cast<std::size_t>(slot)].type);
  return call.op->type(Signature{*call.op, types, *call.attrs, call.numbers}).outputs[k].dtype;
}

void Recorder::record_results(const Call& call, const Prepared& prepared, Tensor* outputs,
                              const Numbers& numbers, std::vector<SlotId>& output_slots,
                              std::vector<bool>* output_is_new) {
  if (is_counted(*call.op)) ++current().operators;
  // Inside a library call the user's line is that of the call.
  const Source source{in_expansion_ ? current().site.file : call.site.file_name(),
                      in_expansion_ ? current().site.line : call.site.line()};
  const auto count = static_cast<std::size_t>(output_count(*call.op, *call.attrs));
  const std::int32_t node_index = log_->add_node(*call.op, prepared.values, *call.attrs, numbers,
                                                 count, source, segment_->stages - 1);
  for (std::size_t k = 0; k < count; ++k) {
    const ValueId value = log_->output(node_index, k);
    if (call.is_inplace) {
      const SlotId target = prepared.inputs[static_cast<std::size_t>(call.op->mutates[k])];
      const bool is_unnoticed =
          call.inputs[static_cast<std::size_t>(call.op->mutates[k])].impl()->counts_apart ||
          (call.op->writes_unnoticed && k == 0);
      write(target, value, type_in_place(call, prepared, k), is_unnoticed);
      note_left(target);
      output_slots.push_back(target);
      if (output_is_new) output_is_new->push_back(false);
      continue;
    }
    if (!outputs[k].defined()) {
      output_slots.push_back(kNoSlot);
      if (output_is_new) output_is_new->push_back(false);
      continue;
    }
    TensorImpl& impl = *outputs[k].impl();
    if (knows(impl)) {  // a composite that gave back its operand
      output_slots.push_back(known_slot(impl));
      if (output_is_new) output_is_new->push_back(false);
      continue;
    }
    const bool shares = known_storage(impl.storage) >= 0;
    const SlotId id = add_slot(impl);
    Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (call.op->kind == OpKind::kView) {
      const SlotId parent = prepared.inputs[0];
      slot.parent = parent;
      slot.storage = segment_->slots[static_cast<std::size_t>(parent)].storage;
      slot.view_call = node_index;
    } else {
      if (shares) fail(Reason::kUnknownAlias);
      add_storage(id, impl.storage, value, false);
    }
    cached_[static_cast<std::size_t>(id)] = {
        value, segment_->storages[static_cast<std::size_t>(slot.storage)].writes};
    output_slots.push_back(id);
    note_use(id);
    if (output_is_new) output_is_new->push_back(true);
  }
}

// ---- expansions ----

void Recorder::open_expansion(const Call& call, const SiteKey& site) {
  const Overhead timing(overhead_);
  if (failure_) return;
  const auto first_slot = static_cast<std::int32_t>(segment_->slots.size());
  segment_->calls.emplace_back();
  const Prepared prepared = prepare(call, line_of(*call.op, site));
  RecordedCall& opened = current();
  opened.first_slot = first_slot;
  fill_call(opened, *call.op, *call.attrs, call.numbers, site, call.site);
  opened.is_inplace = call.is_inplace;
  opened.inputs.assign(prepared.inputs.begin(), prepared.inputs.end());
  opened.checked = prepared.checked;
  in_expansion_ = true;
  sequence_at_open_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
}

void Recorder::open_expansion(const LibraryCall& big, const SiteKey& site) {
  const Overhead timing(overhead_);
  if (failure_) return;
  segment_->calls.emplace_back();
  RecordedCall& opened = current();
  opened.first_slot = static_cast<std::int32_t>(segment_->slots.size());
  for (const Tensor& input : big.inputs) {
    const SlotId id = slot_of(input);
    opened.inputs.push_back(id);
    if (id == kNoSlot) continue;
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (slot.is_live_in && !slot.is_leaf) fail(Reason::kLiveInOnTape);
  }
  fill_call(opened, *big.op, *big.attrs, big.numbers, site, big.site);
  opened.is_library_call = true;
  opened.ends_step = big.ends_step;
  opened.structure = big.structure;
  note_walked(big.walked);
  required_grad_.clear();
  for (const Tensor& input : big.inputs)
    required_grad_.push_back(input.defined() && input.impl()->requires_grad);
  opened.code_role = big.code_role;
  const bool ends_walk =
      big.code_role == CodeRole::kResumes || big.code_role == CodeRole::kAbandons;
  if (ends_walk && open_walks_ == 0) fail(Reason::kUserCode);
  in_expansion_ = true;
  sequence_at_open_ = tape_hooks().sequence ? tape_hooks().sequence() : 0;
}

void Recorder::close_expansion(const Call* call, Tensor* outputs) {
  const Overhead timing(overhead_);
  in_expansion_ = false;
  open_.clear();
  if (failure_ || segment_->calls.empty()) return;
  note_found();
  RecordedCall& closed = current();
  closed.tape_nodes = tape_hooks().sequence ? tape_hooks().sequence() - sequence_at_open_ : 0;
  note_derived_histories();
  // What the expansion has made counts from its end.
  for (auto id = closed.first_slot; id < static_cast<SlotId>(segment_->slots.size()); ++id)
    if (!segment_->slots[static_cast<std::size_t>(id)].is_live_in) note_left(id);
  if (call) note_results(outputs, output_count(*call->op, *call->attrs));
  restore_names();
}

void Recorder::open_nested(const Call& call) {
  const SampledOverhead timing(overhead_, ++nested_calls_);
  if (failure_) return;
  open_.push_back(prepare(call, 0));
}

void Recorder::close_nested(const Call& call, Tensor* outputs) {
  const SampledOverhead timing(overhead_, nested_calls_);
  if (failure_ || open_.empty()) return;
  const Prepared prepared = std::move(open_.back());
  open_.pop_back();
  Numbers numbers;
  for (const Scalar& number : call.numbers) numbers.push_back(number_ref(number));
  results_.clear();
  record_results(call, prepared, outputs, numbers, results_, nullptr);
  if (!current().is_library_call) return;
  NestedCall& nested = current().nested.emplace_back();
  nested.op = call.op;
  nested.is_inplace = call.is_inplace;
  // The tape runs its own calls again; of them this is for people.
  if (current().code_role == CodeRole::kWalks || current().code_role == CodeRole::kResumes) return;
  nested.attrs = *call.attrs;
  nested.inputs.assign(prepared.inputs.begin(), prepared.inputs.end());
  nested.outputs = results_;
  nested.numbers.assign(numbers.begin(), numbers.end());
}

void Recorder::substitute(const TensorImpl& result, TensorImpl& handle) {
  if (failure_ || result.trace_session != session_) return;
  handle.trace_session = session_;
  handle.trace_id = result.trace_id;
  objects_[static_cast<std::size_t>(result.trace_id)] = Tensor(&handle);
  if (handle.storage.get() == result.storage.get()) return;
  const std::int32_t index = known_storage(result.storage);
  storage_index_[handle.storage.get()] = index;
  // Known by its address, so that must not come again.
  replaced_storages_.push_back(
      std::exchange(storage_objects_[static_cast<std::size_t>(index)], handle.storage));
  versions_left_[static_cast<std::size_t>(index)] = versions_of(*handle.storage);
}

void Recorder::note_copy(const Tensor& original, const Tensor& copy) {
  if (failure_ || open_.empty() || !knows(*original.impl())) return;
  const ValueId value = read(known_slot(*original.impl()));
  const SlotId id = add_slot(*copy.impl());
  add_storage(id, copy.impl()->storage, value, false);
  cached_[static_cast<std::size_t>(id)] = {value, 0};
}

}  // namespace groove::tracer
