#include "tracer/cache/symbolic_table.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/symbolic_copy.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/backoff.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kLeastSamples = 3, kMostSamples = 24;
constexpr int kMostAgain = 16;   // iterations at sizes that were recorded
constexpr int kFreeSamples = 8;  // of a head, before the next ones must be waited for longer
constexpr std::size_t kMostHeads = 1024, kMostStructures = 16;

// Recordings of one structure.
struct Group {
  std::uint64_t structure = 0, with_ones = 0;
  std::vector<std::vector<std::int64_t>> samples;
  SymbolicSegmentPtr symbolic;
  bool is_let_go = false;  // the symbolic segment was slower than eager mode
};
struct Head {
  std::vector<Group> groups;     // the one that was recorded last comes last
  std::uint64_t missed = 0;      // since the last recording
  int came_again = 0;            // iterations at sizes that were recorded, since others came
  int wasted = 0;                // recordings that have not become symbolic
  std::weak_ptr<Segment> alone;  // the last one that was not for its sizes
};
struct Table {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Head> heads;
};

// Never destroyed, as the registry is not.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

Group& group_of(Head& head, const SizeNumbers& numbers) {
  const auto found = std::find_if(head.groups.begin(), head.groups.end(), [&](const Group& group) {
    return group.structure == numbers.structure;
  });
  if (found != head.groups.end()) {
    std::rotate(found, found + 1, head.groups.end());
  } else {
    if (head.groups.size() == kMostStructures) head.groups.erase(head.groups.begin());
    head.groups.push_back({numbers.structure, numbers.with_ones, {}, nullptr, false});
  }
  return head.groups.back();
}

// Recordings for its sizes are not free any more.
void charge(Head& head) { head.wasted = std::max(head.wasted, kFreeSamples) + 1; }

// What begins so is in no symbolic segment.
void note_without_symbolic_segment(std::uint64_t head) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const auto known = t.heads.find(head);
  if (known != t.heads.end()) charge(known->second);
}

void tell(const Segment& segment, const std::string& what) {
  if (environment().logs("segments"))
    fmt::print(stderr, "groove: loop at {} at other sizes: {}\n", segment.source, what);
}

bool has_free_sizes(const Segment& segment) {
  const std::string why = why_sizes_are_fixed(segment);
  if (why.empty()) return true;
  tell(segment, why);
  note_without_symbolic_segment(segment.head);
  return false;
}

// Are recordings of this structure the same ones where a size is 1?
bool is_at_ones(const SizeNumbers& numbers, std::uint64_t structure, std::uint64_t with_ones) {
  return structure != numbers.structure && with_ones == numbers.with_ones;
}

// Is what was recorded at sizes of 1 what some symbolic segment would be there?
bool is_admitted(const Head& head, const SizeNumbers& numbers) {
  return std::any_of(head.groups.begin(), head.groups.end(), [&](const Group& group) {
    return group.symbolic && group.symbolic->is_armed() &&
           is_at_ones(numbers, group.structure, group.with_ones) &&
           group.symbolic->admit_ones(numbers, numbers.values());
  });
}

// How the sizes of a recording came. What may be any number, such as an optimizer's count of steps,
// is no size.
enum class Sizes : std::uint8_t {
  kAtOthers,
  kAtTheOnly,  // no others ever did
  kAgain,      // and no others for long
};
Sizes note_values(Head& head, Group& group, const SizeNumbers& numbers) {
  std::vector<std::int64_t> values = numbers.values();
  const auto is_same = [&](const std::vector<std::int64_t>& sample) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (sample[i] != values[i] && !numbers.numbers[i].may_be_anything) return false;
    return true;
  };
  if (std::any_of(group.samples.begin(), group.samples.end(), is_same)) {
    const bool is_only = group.samples.size() == 1;
    if (is_only) charge(head);
    if (is_only) return Sizes::kAtTheOnly;
    return ++head.came_again > kMostAgain ? Sizes::kAgain : Sizes::kAtOthers;
  }
  head.came_again = 0;
  if (group.samples.size() == kMostSamples) group.samples.erase(group.samples.begin());
  group.samples.push_back(std::move(values));
  return Sizes::kAtOthers;
}

}  // namespace

std::mutex& symbolic_table_mutex() { return table().mutex; }

std::vector<SymbolicSegmentPtr> symbolic_segments_of(std::uint64_t head) {
  std::vector<SymbolicSegmentPtr> symbolic_segments;
  if (!may_have_symbolic_segment(head)) return symbolic_segments;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const auto found = t.heads.find(head);
  if (found == t.heads.end()) return symbolic_segments;
  const auto is_longer = [](const SymbolicSegmentPtr& a, const SymbolicSegmentPtr& b) {
    return a->original()->calls.size() > b->original()->calls.size();
  };
  for (auto group = found->second.groups.rbegin(); group != found->second.groups.rend(); ++group) {
    if (!group->symbolic || !group->symbolic->is_armed()) continue;
    const auto place = std::upper_bound(symbolic_segments.begin(), symbolic_segments.end(),
                                        group->symbolic, is_longer);
    symbolic_segments.insert(place, group->symbolic);
  }
  return symbolic_segments;
}

bool wants_sample(std::uint64_t head) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  if (t.heads.size() > kMostHeads) t.heads.clear();
  Head& known = t.heads[head];
  if (const SegmentPtr alone = known.alone.lock();
      alone && alone->state.load(std::memory_order_acquire) == State::kCompiling)
    return false;  // what came may be what it is for
  // The first recording waits until another size has come as often as any stretch must.
  const bool is_first = std::none_of(known.groups.begin(), known.groups.end(),
                                     [](const Group& group) { return group.samples.size() > 1; });
  const std::uint64_t needed =
      times_needed(is_first ? hot_repeats() : 1, known.wasted - kFreeSamples);
  if (++known.missed < needed) return false;
  known.missed = 0;
  ++known.wasted;
  return true;
}

bool tells_nothing(std::uint64_t head, std::size_t first, const std::vector<std::int64_t>& shown) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const auto known = t.heads.find(head);
  if (known == t.heads.end() || known->second.came_again >= kMostAgain) return false;
  const auto shows_them = [&](const std::vector<std::int64_t>& sample) {
    return sample.size() >= first + shown.size() &&
           std::equal(shown.begin(), shown.end(),
                      sample.begin() + static_cast<std::ptrdiff_t>(first));
  };
  const auto has_it_and_others = [&](const Group& group) {
    const auto count = std::count_if(group.samples.begin(), group.samples.end(), shows_them);
    return count > 0 && static_cast<std::size_t>(count) < group.samples.size();
  };
  const std::vector<Group>& groups = known->second.groups;
  if (std::none_of(groups.begin(), groups.end(), has_it_and_others)) return false;
  ++known->second.came_again;
  return true;
}

bool is_early_sample(std::uint64_t head) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const auto known = t.heads.find(head);
  return known == t.heads.end() || std::none_of(known->second.groups.begin(),
                                                known->second.groups.end(), [](const Group& group) {
                                                  return group.symbolic ||
                                                         group.samples.size() + 1 >= kLeastSamples;
                                                });
}

void note_sample(Segment& segment) {
  if (!has_free_sizes(segment)) return;
  const SizeNumbers numbers = size_numbers(segment);
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  Head& head = t.heads[segment.head];
  note_values(head, group_of(head, numbers), numbers);
}

Sample add_sample(const SegmentPtr& segment) {
  const auto say = [&](const std::string& what) { tell(*segment, what); };
  if (!has_free_sizes(*segment)) return Sample::kFixed;
  const SizeNumbers numbers = size_numbers(*segment);
  Table& t = table();
  std::unique_lock lock(t.mutex);
  Head& head = t.heads[segment->head];
  if (is_admitted(head, numbers)) return Sample::kCovered;
  Group& group = group_of(head, numbers);
  if (group.symbolic && group.symbolic->is_armed() && group.symbolic->covers(numbers))
    return Sample::kCovered;
  if (group.is_let_go) return Sample::kNoted;
  const bool is_new = group.samples.empty() && head.groups.size() > 1;
  const Sizes came = note_values(head, group, numbers);
  if (is_new) {
    head.alone = segment;
    return Sample::kOfNewStructure;
  }
  if (came == Sizes::kAtTheOnly) return Sample::kFixed;
  if (came == Sizes::kAgain) return Sample::kOfFewSizes;
  if (group.samples.size() < kLeastSamples) return Sample::kNoted;
  SizeFit fit = fit_sizes(numbers, group.samples);
  if (!fit.failure.empty()) {
    lock.unlock();
    say(fit.failure);
    return Sample::kNoted;
  }
  if (fit.symbols.empty()) return Sample::kNoted;
  const SymbolicSegmentPtr before = group.symbolic;
  const auto made = std::make_shared<SymbolicSegment>(segment, numbers, std::move(fit));
  group.symbolic = made;
  made->adopt_original();
  for (const auto& sample : group.samples) made->note_sizes(made->sizes_in(sample));
  for (const Group& other : head.groups)
    if (is_at_ones(numbers, other.structure, other.with_ones))
      for (const auto& sample : other.samples) made->admit_ones(numbers, sample);
  head.wasted = std::max(0, head.wasted - kFreeSamples);
  symbolic_filter.fetch_or(1ull << (segment->head & 63));
  lock.unlock();
  adopt(segment);
  if (before && before->is_armed()) retire(before->original());
  say("a segment of all sizes");
  made->ask_for_any_size(made->sizes_in(numbers.values()));
  return Sample::kCovered;
}

void drop_retired_symbolic_segments() {
  if (symbolic_filter.load(std::memory_order_relaxed) == 0) return;
  std::vector<SymbolicSegmentPtr> gone;  // destroyed without the lock
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  for (auto& [hash, head] : t.heads)
    for (Group& group : head.groups)
      if (group.symbolic && !group.symbolic->is_armed()) {
        group.is_let_go |= group.symbolic->original()->is_let_go.load(std::memory_order_relaxed);
        gone.push_back(std::move(group.symbolic));
      }
}

void forget_all_symbolic_segments() {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  t.heads.clear();
  symbolic_filter.store(0);
}

}  // namespace groove::tracer
