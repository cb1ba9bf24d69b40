// The recorder's end: what the program looked at or still holds becomes an output of the graph.
#include <algorithm>

#include "src/core/check.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/record/recorder.h"
#include "tracer/tell/inspect.h"
#include "tracer/tell/report.h"

namespace groove::tracer {

void Recorder::add_stage_end(SlotId id) {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  StorageInfo& storage = segment_->storages[static_cast<std::size_t>(slot.storage)];
  if (storage.is_live_in && storage.writes == 0) return;  // real already
  if (storage.early_output >= 0) return;                  // looked at before
  const std::int32_t stage = segment_->stages - 1;
  Graph& graph = segment_->graph;
  GraphOutput output;
  output.value = read(storage.base);
  output.stage = stage;
  if (storage.is_live_in) {
    fail(Reason::kWrittenAfterRead);  // committing a write early is not built yet
    return;
  }
  storage.early_output = static_cast<std::int32_t>(graph.outputs.size());
  graph.outputs.push_back(output);
  segment_->stage_ends.push_back({static_cast<std::int32_t>(segment_->calls.size()), id, stage});
  ++segment_->stages;
}

void Recorder::expose(TensorImpl& impl) {
  const std::int32_t known = failure_ || !impl.storage ? -1 : known_storage(impl.storage);
  if (known < 0) return;
  StorageInfo& storage = segment_->storages[static_cast<std::size_t>(known)];
  // Of what existed before, replay keeps the content at its first use.
  if (!storage.is_live_in) {
    storage.is_exposed = true;
    exposed_after_[known] = last_hash();
  }
  for (const SlotId id : segment_->live_ins)
    if (objects_[static_cast<std::size_t>(id)].impl()->storage == impl.storage) keep_content(id);
}

void Recorder::host_read(TensorImpl& impl) {
  if (failure_ || in_expansion_ || !knows(impl)) return;
  add_stage_end(known_slot(impl));
}

bool Recorder::is_held(SlotId id) const {
  const TensorImpl* const impl = objects_[static_cast<std::size_t>(id)].impl();
  return impl && impl->use_count() - impl->tape_references > 1;
}

void Recorder::keep_widened() {
  for (const auto& [at, output] : widened_) {
    const std::vector<SlotId>& slots = current().outputs;
    if (static_cast<std::size_t>(at) + 1 != calls() ||
        static_cast<std::size_t>(output) >= slots.size())
      continue;
    const SlotId id = slots[static_cast<std::size_t>(output)];
    if (id != kNoSlot) kept_.push_back(objects_[static_cast<std::size_t>(id)]);
  }
}

// The slot that was used longest ago may be nobody's by now.
void Recorder::note_use(SlotId id) {
  const SlotId before = std::exchange(used_[uses_++ % kUsed], id);
  if (before != kNoSlot) let_go(before);
}

// A result that nobody holds, and that no tape knows, goes as it goes in eager mode, so that a
// recording needs no more memory; its values are known to the graph.
void Recorder::let_go(SlotId id) {
  Tensor& object = objects_[static_cast<std::size_t>(id)];
  const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  if (!object.defined() || slot.is_live_in) return;
  const TensorImpl& impl = *object.impl();
  if (impl.use_count() != 1) return;
  if (const AutogradMeta* const meta = impl.autograd;
      meta && (meta->accumulator || meta->grad.defined() || meta->view_base.defined() ||
               (meta->grad_fn && !meta->grad_fn->is_released)))
    return;
  settle_result(id);
  object = Tensor();
  const auto s = static_cast<std::size_t>(slot.storage);
  StoragePtr& memory = storage_objects_[s];
  if (segment_->storages[s].is_live_in || !memory || memory->use_count() != 1) return;
  if (in_expansion_) versions_left_[s] = versions_of(*memory);
  storage_index_.erase(memory.get());
  memory.reset();
}

// Written in place, a result may have got a history that it did not have when it was made.
void Recorder::settle_result(SlotId id) {
  Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
  const TensorImpl& impl = *objects_[static_cast<std::size_t>(id)].impl();
  const bool is_leaf = !impl.autograd || !impl.autograd->grad_fn;
  if (impl.requires_grad && !slot.requires_grad && !is_leaf)
    segment_->storages[static_cast<std::size_t>(slot.storage)].gains_history = true;
  slot.requires_grad = impl.requires_grad;
  slot.counts_apart = impl.counts_apart;
  slot.requires_by_base = requires_grad_by_base(impl);
  slot.is_leaf = is_leaf;
  slot.holds_base = impl.autograd && impl.autograd->view_base.defined();
}

// The last content of a storage made inside.
void Recorder::add_output(std::int32_t index) {
  StorageInfo& storage = segment_->storages[static_cast<std::size_t>(index)];
  if (storage.is_live_in || storage.early_output >= 0 || storage.output >= 0) return;
  Graph& graph = segment_->graph;
  storage.output = static_cast<std::int32_t>(graph.outputs.size());
  graph.outputs.push_back({read(storage.base), -1, segment_->stages - 1});
}

void Recorder::add_outputs() {
  std::vector<SlotId> held;
  Graph& graph = segment_->graph;
  const std::int32_t last = segment_->stages - 1;
  for (SlotId id = 0; id < static_cast<SlotId>(segment_->slots.size()); ++id) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (slot.is_live_in || !is_held(id)) continue;
    held.push_back(id);
    segment_->slots[static_cast<std::size_t>(id)].is_held = true;
    add_output(slot.storage);
  }
  add_history(held);
  if (segment_->history)
    for (const HistoryPlan::Value& saved : segment_->history->values)
      add_output(segment_->slots[static_cast<std::size_t>(saved.slot)].storage);
  std::vector<const Storage*> objects;
  objects.reserve(storage_objects_.size());
  for (const StoragePtr& object : storage_objects_) objects.push_back(object.get());
  std::sort(objects.begin(), objects.end());
  // A storage that existed before has the input by which it was first seen.
  for (std::size_t input = 0; input < segment_->live_ins.size(); ++input) {
    const SlotId id = segment_->live_ins[input];
    const auto s = static_cast<std::size_t>(segment_->slots[static_cast<std::size_t>(id)].storage);
    StorageInfo& storage = segment_->storages[s];
    if (storage.base != id || storage.writes == 0) continue;
    const auto same = std::equal_range(objects.begin(), objects.end(), storage_objects_[s].get());
    if (same.second - same.first > 1) fail(Reason::kLiveInAlias);
    storage.output = static_cast<std::int32_t>(graph.outputs.size());
    graph.outputs.push_back({read(storage.base), static_cast<std::int32_t>(input), last});
  }
}

// Which calls use and write what there is. What a view shows is used where the view is.
void Recorder::note_uses() {
  for (StorageInfo& info : segment_->storages) info.is_used = info.is_live_in || info.writes > 0;
  const auto use = [this](SlotId id) {
    if (id == kNoSlot) return;
    const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
    segment_->storages[static_cast<std::size_t>(storage)].is_used = true;
  };
  const auto use_inputs = [&](const Op& op, const std::vector<SlotId>& inputs) {
    if (op.kind != OpKind::kView) std::for_each(inputs.begin(), inputs.end(), use);
  };
  for (std::size_t w = segment_->calls.size(); w-- > 0;) {
    const RecordedCall& call = segment_->calls[w];
    for (const SlotId id : call.written_live_ins) {
      const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
      segment_->storages[static_cast<std::size_t>(storage)].first_write =
          static_cast<std::int32_t>(w);
    }
    use_inputs(*call.op, call.inputs);
    for (const NestedCall& nested : call.nested) use_inputs(*nested.op, nested.inputs);
    for (const LeafGrad& effect : call.effects) use(effect.grad);
    for (const FlagEffect& flag : call.flags) use(flag.slot);
  }
}

SegmentPtr Recorder::finish() {
  const std::int64_t ended = nanoseconds_now();
  if (segment_->calls.empty()) fail(Reason::kException);
  if (open_walks_ > 0) fail(Reason::kUserCode);
  // From here on by name alone: what the code refers to is not held by the program.
  for (const auto& [code, at] : attached_) attached_by_[code.get()] = at;
  attached_.clear();
  if (!failure_) add_outputs();
  if (failure_) return nullptr;
  Graph& graph = segment_->graph;
  graph.stages = segment_->stages;
  std::int32_t buffers = 0;
  segment_->output_buffer_of.assign(graph.outputs.size(), -1);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph.outputs[i].writes < 0) segment_->output_buffer_of[i] = buffers++;
  segment_->output_storages.assign(static_cast<std::size_t>(buffers), -1);
  for (std::size_t s = 0; s < segment_->storages.size(); ++s)
    for (const std::int32_t output :
         {segment_->storages[s].output, segment_->storages[s].early_output})
      if (output >= 0 && segment_->output_buffer_of[static_cast<std::size_t>(output)] >= 0)
        segment_->output_storages[static_cast<std::size_t>(
            segment_->output_buffer_of[static_cast<std::size_t>(output)])] =
            static_cast<std::int32_t>(s);
  for (std::size_t id = 0; id < segment_->slots.size(); ++id) {
    Slot& slot = segment_->slots[id];
    if (!slot.is_live_in && objects_[id].defined()) settle_result(static_cast<SlotId>(id));
  }
  // A gradient that is made by writes is new to the program, whatever went into it.
  for (std::size_t s = 0; s < segment_->storages.size(); ++s)
    if (StorageInfo& info = segment_->storages[s]; !info.is_live_in) {
      const Versions& versions = versions_left_[s];
      info.unnoticed = versions.unnoticed;
      info.writes = versions.noticed + versions.unnoticed;
    }
  note_uses();
  // … and one whose flag the program set did not have it from the start.
  for (auto at = segment_->calls.rbegin(); at != segment_->calls.rend(); ++at)
    for (const FlagEffect& flag : at->flags) {
      Slot& slot = segment_->slots[static_cast<std::size_t>(flag.slot)];
      slot.requires_grad = flag.before;
      slot.is_leaf |= flag.gets_history;
    }
  for (const Cached& cached : cached_) segment_->slot_values.push_back(cached.value);
  segment_->source = source();
  segment_->profile.note_eager(ended - started_ - overhead_);
  segment_->make_graph = [log = log_, content = segment_.get()](Graph& made) {
    log->build(made, *content);
    name_values(made, *content);
  };
  return segment_;
}

std::string Recorder::last_call() const {
  return segment_->calls.empty() ? "" : describe(segment_->calls.back());
}

double Recorder::milliseconds() const {
  return static_cast<double>(nanoseconds_now() - started_ - overhead_) * 1e-6;
}

std::string Recorder::source() const {
  if (segment_->calls.empty()) return "?";
  const SiteKey& site = segment_->calls.front().site;
  return fmt::format("{}:{}", site.file ? site.file : "?", site.line);
}

}  // namespace groove::tracer
