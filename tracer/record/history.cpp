// Results with a live history: what of a recording the tape must keep, and what a run gives to it.
#include "tracer/calls/history.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/record/recorder.h"
#include "tracer/replay/replay.h"

namespace groove::tracer {

// ---- recording ----

// What a live-in's history is when the loop first uses it.
void Recorder::note_history(SlotId id) {
  const AutogradMeta* const meta = objects_[static_cast<std::size_t>(id)].impl()->autograd;
  if (meta && meta->grad_fn)
    histories_[static_cast<std::size_t>(id)] = {meta->grad_fn, meta->output_index};
}

// Views whose base was written before the recording: the tape has derived their histories now, if
// the call that reads them is one that has a gradient.
void Recorder::note_derived_histories() {
  for (const SlotId id : stale_) {
    const TensorImpl& impl = *objects_[static_cast<std::size_t>(id)].impl();
    if (has_stale_history(impl)) return fail(Reason::kLiveInOnTape);
    Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    slot.derives_history = true;
    slot.requires_grad = true;
    slot.requires_by_base = false;
    slot.is_leaf = false;
    histories_[static_cast<std::size_t>(id)] = {impl.autograd->grad_fn,
                                                impl.autograd->output_index};
  }
  stale_.clear();
}

// The way from the base to a view that the program holds.
void Recorder::track_views(SlotId id) {
  std::vector<TrackedView> way;
  for (;;) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(id)];
    if (!objects_[static_cast<std::size_t>(id)].defined()) break;
    const TensorImpl& impl = *objects_[static_cast<std::size_t>(id)].impl();
    const AutogradMeta* const meta = impl.autograd;
    if (slot.is_live_in || slot.parent == kNoSlot || !meta || !meta->view_base.defined()) break;
    way.push_back({id, version_of(impl) - meta->view_version, !meta->is_made_without_grad});
    id = slot.parent;
  }
  if (way.empty()) return;
  std::reverse(way.begin(), way.end());
  segment_->tracked_views.push_back(std::move(way));
}

// Slots that the program still holds, and the bases of views among them, have a history to keep.
void Recorder::add_history(const std::vector<SlotId>& held) {
  HistoryRequest request;
  std::vector<bool> is_candidate(segment_->slots.size());
  const auto consider = [&](const TensorImpl& impl) {
    if (!knows(impl)) return;
    const auto id = static_cast<std::size_t>(known_slot(impl));
    if (segment_->slots[id].is_live_in || is_candidate[id]) return;
    is_candidate[id] = true;
    if (impl.autograd && impl.autograd->grad_fn)
      request.results.push_back({static_cast<SlotId>(id), &impl});
  };
  for (const SlotId id : held) {
    const TensorImpl& impl = *objects_[static_cast<std::size_t>(id)].impl();
    consider(impl);
    const AutogradMeta* const meta = impl.autograd;
    if (!meta || !meta->view_base.defined()) continue;
    track_views(id);
    consider(*meta->view_base.impl());
  }
  for (const SlotId id : segment_->live_ins) {
    const AutogradMeta* const meta = objects_[static_cast<std::size_t>(id)].impl()->autograd;
    const TapeNode* const now = meta ? meta->grad_fn.get() : nullptr;
    // Written in place through a view, whose base is nothing that this recording knows.
    if (meta && meta->view_base.defined() &&
        has_stale_history(*objects_[static_cast<std::size_t>(id)].impl()))
      fail(Reason::kLiveInOnTape);
    if (now == histories_[static_cast<std::size_t>(id)].node.get()) continue;
    if (!now) fail(Reason::kLiveInOnTape);
    const std::int32_t storage = segment_->slots[static_cast<std::size_t>(id)].storage;
    segment_->storages[static_cast<std::size_t>(storage)].gains_history = true;
    // Written in place, it has a history of this recording now.
    request.results.push_back({id, objects_[static_cast<std::size_t>(id)].impl(), true});
  }
  if (failure_ || request.results.empty() || !tape_hooks().plan_history) return;
  request.slot_of = [this](const TensorImpl& impl) { return known_slot(impl); };
  request.attached_by = [this](const TapeNode* code) {
    const auto found = attached_by_.find(code);
    return found == attached_by_.end() ? -1 : found->second;
  };
  request.number_kinds = segment_->number_kinds;
  request.source = source();
  request.first_position = first_position_;
  request.end_position = first_position_;
  for (const RecordedCall& call : segment_->calls) request.end_position += call.tape_nodes;
  // A live-in, or a leaf that was made inside.
  for (SlotId id = 0; id < static_cast<SlotId>(segment_->slots.size()); ++id) {
    if (!objects_[static_cast<std::size_t>(id)].defined()) continue;
    const AutogradMeta* const meta = objects_[static_cast<std::size_t>(id)].impl()->autograd;
    const Origin& before = histories_[static_cast<std::size_t>(id)];
    if (before.node && segment_->slots[static_cast<std::size_t>(id)].is_live_in)
      request.outside.push_back({id, before.node.get(), before.index});
    else if (meta && !meta->grad_fn && meta->accumulator)
      request.outside.push_back({id, meta->accumulator.get(), 0});
  }
  for (const Slot& slot : segment_->slots) {
    const auto storage = static_cast<std::size_t>(slot.storage);
    const Versions before = segment_->storages[storage].is_live_in ? storage_versions_[storage]
                                                                   : versions_left_[storage];
    request.version_before.push_back(slot.counts_apart ? before.unnoticed : before.noticed);
  }
  std::string why;
  segment_->history = tape_hooks().plan_history(request, segment_->used_up, why);
  if (!segment_->history) {
    if (environment().logs("guards")) fmt::print(stderr, "groove: {}: {}\n", source(), why);
    fail(Reason::kLiveTape);
    return;
  }
  if (segment_->history->nodes.empty()) segment_->history.reset();
}

// ---- replay ----

bool Replay::hides_history(const TensorImpl& impl) const {
  std::int32_t storage = -1;
  // Until the run ends a view does not know its base, also behind the stage that made its data.
  if (impl.trace_session == session_ &&
      segment_->slots[static_cast<std::size_t>(impl.trace_id)].requires_by_base &&
      (impl.is_pending || !impl.autograd || !impl.autograd->view_base.defined()))
    return true;
  if (impl.is_pending && impl.trace_session == session_)
    storage = segment_->slots[static_cast<std::size_t>(impl.trace_id)].storage;
  else if (impl.storage && impl.storage->flags & Storage::kOwed &&
           impl.storage->trace_session == session_)
    storage = impl.storage->trace_index;
  return storage >= 0 && segment_->storages[static_cast<std::size_t>(storage)].gains_history;
}

bool Replay::owes_history(const TensorImpl& impl) const {
  return makes(impl) && !segment_->slots[static_cast<std::size_t>(impl.trace_id)].is_leaf;
}

// At the node on the tape that the call which reads it will have.
bool Replay::derive_history(SlotId view, TensorImpl& impl) {
  if (!segment_->slots[static_cast<std::size_t>(view)].derives_history || !grad_enabled())
    return false;
  const std::uint64_t position = tape_hooks().sequence();
  std::uint64_t before = tape_nodes_;
  for (const SlotId id : segment_->live_ins) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    before += live.run == run_ && live.bound_at == matched_ &&
              segment_->slots[static_cast<std::size_t>(id)].derives_history;
  }
  tape_hooks().set_sequence(position + before);
  tape_hooks().refresh_view(impl);
  tape_hooks().set_sequence(position);
  return true;
}

// A view refers to its base, as the tape has it.
void Replay::track_view(const TrackedView& view) {
  const Slot& slot = segment_->slots[static_cast<std::size_t>(view.slot)];
  TensorImpl& impl = existing_handle(view.slot);
  if (impl.autograd && impl.autograd->view_base.defined()) return;
  if (!segment_->slots[static_cast<std::size_t>(slot.parent)].is_live_in) {
    existing_handle(slot.parent);
    fill(slot.parent);
  }
  fill(view.slot);
  const Node& made = segment_->graph.nodes[static_cast<std::size_t>(slot.view_call)];
  const PooledVector<Scalar> numbers = numbers_of(made);
  const Tensor input(live_[static_cast<std::size_t>(slot.parent)].object);
  Tensor output(&impl);
  const Call call{made.op, ArrayRef<Tensor>(input), &made.attrs, numbers, Site::current()};
  tape_hooks().track_view(call, output, view.with_grad);
  if (impl.autograd) impl.autograd->view_version -= view.writes_since;
}

void Replay::keep_history() {
  for (const std::vector<TrackedView>& way : segment_->tracked_views) {
    const Live& live = live_[static_cast<std::size_t>(way.back().slot)];
    if (live.run != run_ || live.impl->use_count() == 1) continue;
    for (const TrackedView& view : way) track_view(view);
  }
  keep_live_history();
  keep_used_up();
}

// After the live ones, to which it may lead.
void Replay::keep_used_up() {
  if (!segment_->used_up) return;
  const UsedUpPlan& plan = *segment_->used_up;
  const std::size_t results = plan.results.size();
  bool is_needed = false;
  objects_.clear();
  for (const HistoryPlan::Result& result : plan.results) {
    const Live& live = live_[static_cast<std::size_t>(result.slot)];
    const bool is_held = live.run == run_ && live.impl->use_count() > 1;
    objects_.push_back(is_held ? live.object : nullptr);
    is_needed |= is_held;
  }
  if (!is_needed) return;
  for (const SlotId id : plan.outside)
    objects_.push_back(live_[static_cast<std::size_t>(id)].object);
  const ArrayRef<TensorImpl*> all = objects_;
  tape_hooks().give_used_up({segment_->used_up, tape_hooks().sequence(), all.slice(0, results),
                             all.slice(results, plan.outside.size())},
                            used_up_);
  if (plan.leads_to_live) used_up_.reset();  // it would keep this run's alive
}

// What the last run gave to a handle that nobody else holds.
void Replay::take_back_history(const Live& live) {
  AutogradMeta* const meta = live.impl->autograd;
  if (!used_up_ || !meta || meta->grad_fn.get() != used_up_.get()) return;
  meta->grad_fn = released_node();
  meta->output_index = 0;
}

void Replay::keep_live_history() {
  if (!segment_->history) return;
  HistoryRun run;
  bool is_needed = false;
  for (const HistoryPlan::Result& result : segment_->history->results) {
    const Live& live = live_[static_cast<std::size_t>(result.slot)];
    const bool is_held =
        live.run == run_ && (segment_->slots[static_cast<std::size_t>(result.slot)].is_live_in ||
                             live.impl->use_count() > 1);
    run.results.push_back(is_held ? live.object : nullptr);
    is_needed |= is_held;
  }
  if (!is_needed) return;
  run.plan = segment_->history;
  run.session = session_;
  run.first_position = tape_hooks().sequence();
  run.numbers.assign(scalars_.begin(), scalars_.end());
  for (const std::int32_t call : segment_->history->code)
    for (const auto& [at, code] : code_)
      if (static_cast<std::int32_t>(at) == call) run.code.push_back(code);
  const auto held = [this](SlotId id) {
    return Tensor(live_[static_cast<std::size_t>(id)].object);
  };
  for (const SlotId id : segment_->history->outside) run.outside.push_back(held(id));
  for (const HistoryPlan::Value& saved : segment_->history->values) {
    const Slot& slot = segment_->slots[static_cast<std::size_t>(saved.slot)];
    const StorageInfo& info = segment_->storages[static_cast<std::size_t>(slot.storage)];
    const TensorImpl& base = *live_[static_cast<std::size_t>(info.base)].object;
    HistoryRun::Value value;
    // A leaf is saved itself: its history is its own. A written input would hold what holds it.
    const auto& results = segment_->history->results;
    const bool is_result =
        std::any_of(results.begin(), results.end(),
                    [&](const HistoryPlan::Result& result) { return result.slot == saved.slot; });
    if (!is_result && (slot.is_live_in || (slot.requires_grad && slot.is_leaf)))
      value.live_in = held(saved.slot);
    value.storage = base.storage;
    value.geometry = geometry_of(saved.slot);
    value.dtype = slot.type.dtype;
    value.counts_apart = slot.counts_apart;
    value.version_before = slot.counts_apart ? base.storage->unnoticed : base.storage->version;
    if (info.is_live_in)
      value.version_before -= slot.counts_apart ? info.unnoticed : info.versions();
    run.values.push_back(std::move(value));
  }
  tape_hooks().attach_history(std::move(run));
}

// Handles with a history are not for the next run: they would keep this one's alive.
void Replay::drop_history() {
  const auto drop = [this](SlotId id) {
    Live& live = live_[static_cast<std::size_t>(id)];
    live.impl.reset();
    live.run = 0;
  };
  if (was_left_) {
    const std::size_t known = is_complete()
                                  ? live_.size()
                                  : static_cast<std::size_t>(segment_->calls[matched_].first_slot);
    for (std::size_t id = 0; id < known; ++id) {
      Live& live = live_[id];
      if (live.epoch != kNotReusable || (live.impl && renew(live, segment_->slots[id]))) continue;
      drop(static_cast<SlotId>(id));
    }
    was_left_ = false;
  }
  if (segment_->history) {
    for (const HistoryPlan::Result& result : segment_->history->results)
      if (!segment_->slots[static_cast<std::size_t>(result.slot)].is_live_in) drop(result.slot);
    for (const SlotId id : segment_->history->outside)
      if (!segment_->slots[static_cast<std::size_t>(id)].is_live_in) drop(id);
  }
  if (segment_->used_up && segment_->used_up->leads_to_live)
    for (const HistoryPlan::Result& result : segment_->used_up->results) drop(result.slot);
  for (const std::vector<TrackedView>& way : segment_->tracked_views) {
    for (const TrackedView& view : way) drop(view.slot);
    const SlotId base = segment_->slots[static_cast<std::size_t>(way.front().slot)].parent;
    if (!segment_->slots[static_cast<std::size_t>(base)].is_live_in) drop(base);
  }
}

}  // namespace groove::tracer
