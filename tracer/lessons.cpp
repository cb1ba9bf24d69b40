#include "tracer/lessons.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace groove::tracer {
namespace {

struct Lessons {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Recorder::Widened> widened;
  std::unordered_map<std::uint64_t, Recorder::Moving> moving;
  std::unordered_set<std::uint64_t> filled;
  std::map<std::pair<std::string, Reason>, Failure> failures;
};

// Never destroyed, as threads may go on while the process ends.
Lessons& lessons() {
  static Lessons& instance = *new Lessons;
  return instance;
}

bool lacks(const Segment& segment, const std::pair<std::int32_t, std::int32_t>& output) {
  if (static_cast<std::size_t>(output.first) >= segment.words.size()) return false;
  const std::vector<SlotId>& slots = segment.words[static_cast<std::size_t>(output.first)].outputs;
  if (static_cast<std::size_t>(output.second) >= slots.size()) return false;
  const SlotId id = slots[static_cast<std::size_t>(output.second)];
  if (id == kNoSlot) return false;
  const Slot& slot = segment.slots[static_cast<std::size_t>(id)];
  return !slot.is_live_in && !slot.is_held;
}

}  // namespace

std::mutex& lessons_mutex() { return lessons().mutex; }

void forget_all_lessons() {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  l.widened.clear();
  l.moving.clear();
  l.filled.clear();
  l.failures.clear();
}

void add_widened(std::uint64_t head, const Recorder::Widened& outputs) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  Recorder::Widened& known = l.widened[head];
  for (const auto& output : outputs)
    if (std::find(known.begin(), known.end(), output) == known.end()) known.push_back(output);
}

Recorder::Widened widened(std::uint64_t head) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  const auto found = l.widened.find(head);
  return found == l.widened.end() ? Recorder::Widened{} : found->second;
}

void add_moving(std::uint64_t head, std::size_t word) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  Recorder::Moving& known = l.moving[head];
  known.are_all |= !known.words.empty() && !known.contains(word);
  known.words.push_back(word);
}

Recorder::Moving moving(std::uint64_t head) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  const auto found = l.moving.find(head);
  return found == l.moving.end() ? Recorder::Moving{} : found->second;
}

void add_filled(std::uint64_t word) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  l.filled.insert(word);
}

bool is_filled(std::uint64_t word) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  return l.filled.contains(word);
}

void count_failure(const std::string& place, Reason reason, const std::string& where,
                   double milliseconds) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  const auto known = l.failures.try_emplace({place, reason}, Failure{place, reason}).first;
  ++known->second.count;
  known->second.where = where;
  known->second.milliseconds = milliseconds;
}

void count_eager_iterations(const std::string& place, Reason reason, std::uint64_t count) {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  const auto known = l.failures.find({place, reason});
  if (known != l.failures.end()) known->second.iterations += count;
}

bool is_outdated(const Segment& segment) {
  const Recorder::Widened outputs = widened(segment.head);
  if (std::any_of(outputs.begin(), outputs.end(),
                  [&](const auto& output) { return lacks(segment, output); }))
    return true;
  const Recorder::Moving known = moving(segment.head);
  for (std::size_t w = 0; w < segment.words.size(); ++w)
    if (segment.words[w].has_settled_position && known.contains(w)) return true;
  return false;
}

std::vector<Failure> all_failures() {
  Lessons& l = lessons();
  const std::lock_guard lock(l.mutex);
  std::vector<Failure> all;
  for (const auto& [key, failure] : l.failures) all.push_back(failure);
  return all;
}

}  // namespace groove::tracer
