#include "tracer/watch/speculation_feedback.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace groove::tracer {
namespace {

struct SpeculationFeedback {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Recorder::Widened> widened;
  std::unordered_map<std::uint64_t, Recorder::Moving> moving;
  std::unordered_set<std::uint64_t> filled;
  std::unordered_map<std::uint64_t, Operands> operands;
  std::map<std::pair<std::string, Reason>, Failure> failures;
};

// Never destroyed, as threads may go on while the process ends.
SpeculationFeedback& speculation_feedback() {
  static SpeculationFeedback& instance = *new SpeculationFeedback;
  return instance;
}

bool lacks(const Segment& segment, const std::pair<std::int32_t, std::int32_t>& output) {
  if (static_cast<std::size_t>(output.first) >= segment.calls.size()) return false;
  const std::vector<SlotId>& slots = segment.calls[static_cast<std::size_t>(output.first)].outputs;
  if (static_cast<std::size_t>(output.second) >= slots.size()) return false;
  const SlotId id = slots[static_cast<std::size_t>(output.second)];
  if (id == kNoSlot) return false;
  const Slot& slot = segment.slots[static_cast<std::size_t>(id)];
  return !slot.is_live_in && !slot.is_held;
}

}  // namespace

std::mutex& speculation_feedback_mutex() { return speculation_feedback().mutex; }

void forget_speculation_feedback() {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  l.widened.clear();
  l.moving.clear();
  l.filled.clear();
  l.operands.clear();
  l.failures.clear();
}

void add_widened(std::uint64_t head, const Recorder::Widened& outputs) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  Recorder::Widened& known = l.widened[head];
  for (const auto& output : outputs)
    if (std::find(known.begin(), known.end(), output) == known.end()) known.push_back(output);
}

Recorder::Widened widened(std::uint64_t head) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  const auto found = l.widened.find(head);
  return found == l.widened.end() ? Recorder::Widened{} : found->second;
}

void add_moving(std::uint64_t head, std::size_t call, bool was_left) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  Recorder::Moving& known = l.moving[head];
  if (known.contains(call)) return;
  known.are_all |= was_left && !known.calls.empty();
  known.calls.push_back(call);
}

Recorder::Moving moving(std::uint64_t head) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  const auto found = l.moving.find(head);
  return found == l.moving.end() ? Recorder::Moving{} : found->second;
}

void add_filled(std::uint64_t call) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  l.filled.insert(call);
}

bool is_filled(std::uint64_t call) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  return l.filled.contains(call);
}

void note_other_operand(std::uint64_t line, bool is_made) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  Operands& known = l.operands[line];
  known = std::max(known, is_made ? Operands::kAnyOrMade : Operands::kAny);
}

void add_written_operand(std::uint64_t line) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  l.operands[line] = Operands::kWritten;
}

Operands operands_of(std::uint64_t line) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  const auto found = l.operands.find(line);
  return found == l.operands.end() ? Operands::kAsRecorded : found->second;
}

void count_failure(const std::string& source, Reason reason, const std::string& where,
                   double milliseconds) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  const auto known = l.failures.try_emplace({source, reason}, Failure{source, reason}).first;
  ++known->second.count;
  known->second.where = where;
  known->second.milliseconds = milliseconds;
}

void count_eager_iterations(const std::string& source, Reason reason, std::uint64_t count) {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  const auto known = l.failures.find({source, reason});
  if (known != l.failures.end()) known->second.iterations += count;
}

bool is_outdated(const Segment& segment) {
  const Recorder::Widened outputs = widened(segment.head);
  if (std::any_of(outputs.begin(), outputs.end(),
                  [&](const auto& output) { return lacks(segment, output); }))
    return true;
  const Recorder::Moving known = moving(segment.head);
  std::uint64_t before = 0;
  for (std::size_t w = 0; w < segment.calls.size(); ++w) {
    const RecordedCall& call = segment.calls[w];
    if (call.has_settled_position && known.contains(w)) return true;
    const std::uint64_t line = line_of(*call.op, call.site);
    const Operands operands = operands_of(line);
    if (!call.takes_any_operands && !call.is_library_call && take_any(operands)) return true;
    if (w > 0 && before != line && operands == Operands::kAnyOrMade) return true;
    before = line;
  }
  return false;
}

std::vector<Failure> all_failures() {
  SpeculationFeedback& l = speculation_feedback();
  const std::lock_guard lock(l.mutex);
  std::vector<Failure> all;
  for (const auto& [key, failure] : l.failures) all.push_back(failure);
  return all;
}

}  // namespace groove::tracer
