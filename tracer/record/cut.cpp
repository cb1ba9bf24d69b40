// Cutting a recording in pieces: where the program does what no segment can stand over (it looks
// at memory that the segment writes, sets a flag by hand), the calls so far become a segment of
// their own and the rest of the iteration another. Both then run one after the other.
#include "src/core/check.h"
#include "tracer/cache/registry.h"
#include "tracer/record/recorder.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {

bool Recorder::must_end_before_read(const TensorImpl& impl) const {
  if (failure_ || in_expansion_ || !knows(impl)) return false;
  const Slot& slot = segment_->slots[static_cast<std::size_t>(known_slot(impl))];
  const StorageInfo& storage = segment_->storages[static_cast<std::size_t>(slot.storage)];
  return storage.is_live_in && storage.writes > 0;
}

// A result that the program has looked at has been given to it: it is not written any more. What a
// value check looks at must be there.
bool Recorder::must_be_there_before(const Call& call) const {
  if (call.op->check) {
    const Tensor& checked = call.inputs[static_cast<std::size_t>(call.op->check_reads)];
    if (checked.defined() && must_end_before_read(*checked.impl())) return true;
  }
  for (const Tensor& input : call.inputs)
    if (input.defined() && is_written_outside(*input.impl())) return true;
  if (!call.is_inplace) return false;
  for (const int index : call.op->mutates) {
    const Tensor& target = call.inputs[static_cast<std::size_t>(index)];
    if (!target.defined() || !knows(*target.impl())) continue;
    const Slot& slot = segment_->slots[static_cast<std::size_t>(known_slot(*target.impl()))];
    if (segment_->storages[static_cast<std::size_t>(slot.storage)].early_output >= 0) return true;
  }
  return false;
}

std::optional<Reason> Recorder::must_end_before(const Call& call, const SiteKey& site) const {
  if (failure_ || in_expansion_) return std::nullopt;
  if (must_be_there_before(call)) return Reason::kWrittenAfterRead;
  if (begins_line_of_made(call, site)) return Reason::kAnyOperand;
  return std::nullopt;
}

// What goes over from one iteration to the next must be as the recording says, in its sizes, too:
// cut in the middle, an iteration is one of two sizes that have nothing to do with each other, and
// the first and the last one are never whole.
std::size_t Recorder::best_beginning() const {
  const std::vector<RecordedCall>& calls = segment_->calls;
  const std::size_t slots = segment_->slots.size();
  std::vector<std::size_t> made_by(slots, calls.size()), used_by(slots, 0);
  std::size_t last_walk = 0;
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (calls[at].is_library_call) last_walk = at;
    for (const SlotId id : calls[at].outputs)
      if (id != kNoSlot && made_by[static_cast<std::size_t>(id)] == calls.size())
        made_by[static_cast<std::size_t>(id)] = at;
  }
  for (std::size_t id = 0; id < slots; ++id) {
    if (noted_[id].used > 0) used_by[id] = static_cast<std::size_t>(noted_[id].used) - 1;
    // A walk of the tape goes through results of which it reads nothing.
    const TensorImpl* const impl = objects_[id].impl();
    if (impl ? impl->requires_grad : segment_->slots[id].requires_grad)
      used_by[id] = std::max(used_by[id], last_walk);
  }
  // How many more cross the cut before a call than the one before the call before.
  std::vector<int> more(calls.size() + 1, 0);
  int carried = 0;
  for (std::size_t id = 0; id < slots; ++id) {
    if (!segment_->slots[id].is_live_in) {
      if (made_by[id] >= used_by[id]) continue;
      ++more[made_by[id] + 1];
      --more[used_by[id] + 1];
    } else if (!segment_->slots[id].is_leaf && !is_held(static_cast<SlotId>(id))) {
      // A result, which the program has let go of meanwhile.
      ++carried;
      --more[used_by[id] + 1];
    }
  }
  std::size_t best = 0;
  for (int fewest = carried, crossing = carried, at = 1; at < static_cast<int>(calls.size());
       ++at) {
    crossing += more[static_cast<std::size_t>(at)];
    if (crossing >= fewest) continue;
    fewest = crossing;
    best = static_cast<std::size_t>(at);
  }
  return best;
}

// Another thread has written a result since: from now on it is nothing that these calls make.
bool Recorder::is_written_outside(const TensorImpl& impl) const {
  if (impl.trace_session != session_) return false;
  const auto id = static_cast<std::size_t>(known_slot(impl));
  const auto storage = static_cast<std::size_t>(segment_->slots[id].storage);
  return !segment_->storages[storage].is_live_in && storage_objects_[storage] &&
         versions_of(*storage_objects_[storage]) != versions_left_[storage];
}

// Of a live-in the calls count from what they find.
void Recorder::pass_over_writes(SlotId live_in) {
  const auto at =
      static_cast<std::size_t>(segment_->slots[static_cast<std::size_t>(live_in)].storage);
  const Versions now = versions_of(*storage_objects_[at]);
  Versions &first = storage_versions_[at], &left = versions_left_[at];
  if (now == left) return;
  first.noticed += now.noticed - left.noticed;
  first.unnoticed += now.unnoticed - left.unnoticed;
  left = now;
}

void Recorder::note_left(SlotId slot) {
  const auto at = static_cast<std::size_t>(segment_->slots[static_cast<std::size_t>(slot)].storage);
  if (storage_objects_[at]) versions_left_[at] = versions_of(*storage_objects_[at]);
}

void Context::cut_recording(Reason reason) {
  if (recorder_->calls() == 0) {
    recorder_->fail(reason);
    return abandon_recording();
  }
  const Discovery::Plan plan = *recorded_plan_;
  const std::size_t calls = recorder_->calls();
  const std::uint64_t stop = recorded_stop_, last = recorder_->last_hash();
  SegmentPtr piece = recorder_->finish();
  if (!piece) return abandon_recording();
  if (!side_of_) discovery_.note_cut(plan);
  piece->kind = plan.kind;
  piece->expected = calls;
  rest_ = Rest{piece, plan.kind, plan.length > calls ? plan.length - calls : 1,
               stop,  last,      samples_left_};
  if (!keep_recorded(std::move(piece), ", to be gone on with")) rest_.reset();
}

// A call that no segment begins with, after a cut.
bool Context::starts_rest(std::uint64_t head) {
  if (!rest_) return false;
  Rest rest = *std::exchange(rest_, std::nullopt);
  // Something that is in no segment may have come between the pieces.
  if (!discovery_.is_after(rest.before)) rest.before = 0;
  if (head == rest.stop || !claim_recording(head)) return false;
  begin_side(rest.piece, 0);
  recorded_plan_->head = head;
  recorded_plan_->length = rest.length;
  recorded_plan_->before = rest.before;
  recorded_stop_ = rest.stop;
  samples_left_ = rest.samples_left;
  recorder_ = std::make_unique<Recorder>(head, next_session(SessionOf::kRecording), moving(head),
                                         widened(head));
  recorder_->set_before(rest.before);
  return true;
}

// The run is left where a cut would have been made: from the second time on there is one.
void Context::deoptimize_and_cut(Reason reason) {
  Replay& replay = *replay_;
  if (replay.is_complete()) {
    commit_complete(0);
    return;
  }
  wanted_ =
      wants_side(SideExits::at(replay.path_node(), static_cast<std::uint64_t>(reason)), reason);
  if (wanted_ == Wanted::kNothing && go_over_to_end()) return;
  deoptimize(reason, 0);
  if (state_ == State::kRecording) cut_recording(reason);
}

}  // namespace groove::tracer
