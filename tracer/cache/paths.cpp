#include "tracer/cache/paths.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/hash.h"
#include "tracer/calls/fields.h"

namespace groove::tracer {
namespace {

std::uint64_t read_key(std::uint64_t path_node, std::int32_t storage) {
  return mixed(path_node, static_cast<std::uint64_t>(storage));
}

std::size_t slots_known_after(const Segment& segment, std::size_t call) {
  return call + 1 < segment.calls.size()
             ? static_cast<std::size_t>(segment.calls[call + 1].first_slot)
             : segment.slots.size();
}

bool is_same_call_at(const Segment& a, const Segment& b, std::size_t at) {
  if (!is_on_one_path(a.calls[at], b.calls[at])) return false;
  const std::size_t end = slots_known_after(a, at);
  if (end != slots_known_after(b, at)) return false;
  for (auto slot = static_cast<std::size_t>(a.calls[at].first_slot); slot < end; ++slot)
    if (!is_on_one_path(a.slots[slot], b.slots[slot])) return false;
  return true;
}

void erase(std::vector<SegmentPtr>& from, const Segment& segment) {
  std::erase_if(from, [&](const SegmentPtr& known) { return known.get() == &segment; });
}

auto find_in(std::vector<SegmentPtr>& in, const Segment& segment) {
  return std::find_if(in.begin(), in.end(),
                      [&](const SegmentPtr& known) { return known.get() == &segment; });
}

// Of paths that take turns, one stays the first: its runs go over to the others half of the time,
// where the one that was taken last would do so each time.
constexpr int kMissesInARow = 2;

bool prefer(std::vector<SegmentPtr>& in, const Segment& segment) {
  const auto found = find_in(in, segment);
  if (found == in.end() || found == in.begin()) return false;
  std::atomic<int>& missed = in.front()->missed;
  if (missed.fetch_add(1, std::memory_order_relaxed) + 1 < kMissesInARow) return false;
  missed.store(0, std::memory_order_relaxed);
  std::rotate(in.begin(), found, found + 1);
  return true;
}

template <typename Map>
void erase_at(Map& map, std::uint64_t key, const Segment& segment) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  erase(found->second, segment);
  if (found->second.empty()) map.erase(found);
}

template <typename Map>
std::vector<SegmentPtr> found_in(const Map& map, std::uint64_t key) {
  const auto found = map.find(key);
  return found == map.end() ? std::vector<SegmentPtr>{} : found->second;
}

}  // namespace

// ---- keys ----

CallKey::CallKey(const Op& op, const Attrs& attrs, const SiteKey& site, bool grad_enabled)
    : hash_(static_cast<std::uint64_t>(op.id) << 1 | (grad_enabled ? 1 : 0)) {
  mix(reinterpret_cast<std::uintptr_t>(site.file));
  mix(static_cast<std::uint64_t>(site.line) << 40 ^ static_cast<std::uint64_t>(site.column) << 24 ^
      site.ordinal);
  for (const std::int64_t word : attrs.words()) mix(static_cast<std::uint64_t>(word));
}

void CallKey::mix(std::uint64_t value) { hash_ = mixed(hash_, value); }

void CallKey::add_walk(std::size_t walked, std::uint64_t structure) {
  mix(walked);
  mix(structure);
}

void CallKey::add_undefined() { mix(~0ull); }
void CallKey::add_known(SlotId slot) { mix(static_cast<std::uint64_t>(slot) << 1); }

void CallKey::add_new(std::size_t ordinal, const Type& type, const Shape& strides) {
  mix(ordinal << 1 | 1);
  mix(static_cast<std::uint64_t>(type.dtype));
  for (const std::int64_t size : type.sizes) mix(static_cast<std::uint64_t>(size));
  for (const std::int64_t stride : strides) mix(static_cast<std::uint64_t>(stride));
}

std::uint64_t key_of(const Segment& segment, std::size_t at) {
  const RecordedCall& call = segment.calls[at];
  CallKey key(*call.op, call.attrs, call.site, call.grad_enabled);
  key.add_numbers(call.number_kinds.size());
  if (call.is_library_call) key.add_walk(call.walked, call.structure);
  for (const SlotId id : call.inputs) {
    if (id == kNoSlot) {
      key.add_undefined();
    } else if (id < call.first_slot) {
      key.add_known(id);
    } else {
      const Slot& slot = segment.slots[static_cast<std::size_t>(id)];
      key.add_new(static_cast<std::size_t>(id - call.first_slot), slot.type, slot.strides);
    }
  }
  return key.value();
}

// ---- the tree ----

// The choice at a node, with all segments that come through it.
Paths::Branch& Paths::branch_at(std::uint64_t path_node, std::size_t depth, std::uint64_t head) {
  const auto [found, is_new] = branches_.try_emplace(path_node);
  if (is_new)
    for (const SegmentPtr& segment : heads_[head])
      if (depth < segment->calls.size() && segment->path[depth] == path_node) {
        Segments& alike = found->second[key_of(*segment, depth)];
        alike.insert(alike.begin(), segment);
      }
  return found->second;
}

void Paths::add(const SegmentPtr& segment) {
  const Segment& added = *segment;
  ++changes_;
  Segments& known_paths = heads_[added.head];
  std::size_t shared = 0;
  std::vector<std::uint64_t> path;
  for (const SegmentPtr& known : known_paths) {
    const std::size_t most = std::min(known->calls.size(), added.calls.size());
    std::size_t alike = 0;
    while (alike < most && is_same_call_at(*known, added, alike)) ++alike;
    if (!path.empty() && alike <= shared) continue;
    shared = alike;
    path.assign(known->path.begin(), known->path.begin() + static_cast<std::ptrdiff_t>(alike) + 1);
  }
  while (path.size() <= added.calls.size()) path.push_back(next_node_++);
  segment->path = std::move(path);
  // Where it parts from others there is a choice from now on; where there is one it takes part.
  const auto is_choice = [&](std::size_t depth) {
    return depth == 0 || depth == shared || branches_.contains(added.path[depth]);
  };
  for (std::size_t depth = 0; depth < added.calls.size(); ++depth) {
    if (!is_choice(depth)) continue;
    Segments& alike = branch_at(added.path[depth], depth, added.head)[key_of(added, depth)];
    alike.insert(alike.begin(), segment);
  }
  // Where it ends in the middle of others, a run of it may go on as one of theirs.
  if (shared == added.calls.size()) branch_at(added.path.back(), shared, added.head);
  for (const StageEnd& end : added.stage_ends) {
    const std::int32_t storage = added.slots[static_cast<std::size_t>(end.slot)].storage;
    Segments& alike = reads_[read_key(added.path[static_cast<std::size_t>(end.after)], storage)];
    alike.insert(alike.begin(), segment);
  }
  Segments& alike = ends_[added.path.back()];
  alike.insert(alike.begin(), segment);
  known_paths.push_back(segment);
}

void Paths::set_apart(Segment& segment) {
  segment.path.clear();
  while (segment.path.size() <= segment.calls.size()) segment.path.push_back(next_node_++);
}

void Paths::remove(const Segment& segment) {
  ++changes_;
  choices_.erase(&segment);
  for (std::size_t depth = 0; depth < segment.calls.size(); ++depth) {
    const auto found = branches_.find(segment.path[depth]);
    if (found == branches_.end()) continue;
    erase_at(found->second, key_of(segment, depth), segment);
    if (found->second.empty()) branches_.erase(found);
  }
  for (const StageEnd& end : segment.stage_ends)
    erase_at(reads_,
             read_key(segment.path[static_cast<std::size_t>(end.after)],
                      segment.slots[static_cast<std::size_t>(end.slot)].storage),
             segment);
  erase_at(ends_, segment.path.back(), segment);
  erase_at(heads_, segment.head, segment);
}

void Paths::clear() {
  ++changes_;
  choices_.clear();
  heads_.clear();
  branches_.clear();
  reads_.clear();
  ends_.clear();
}

void Paths::find_choices(const Segment& segment, Choices& choices) {
  choices.changes = changes_;
  choices.all.clear();
  for (std::size_t depth = 0; depth < segment.calls.size(); ++depth) {
    const auto found = branches_.find(segment.path[depth]);
    if (found == branches_.end()) continue;
    const auto alike = found->second.find(key_of(segment, depth));
    if (alike != found->second.end()) choices.all.push_back(&alike->second);
  }
}

bool Paths::note_taken(const Segment& segment) {
  Choices& choices = choices_[&segment];
  if (choices.changes != changes_) find_choices(segment, choices);
  bool is_news = false;
  for (Segments* const alike : choices.all) is_news |= prefer(*alike, segment);
  return is_news;
}

bool Paths::note_left(const Segment& segment) {
  const auto known_paths = heads_.find(segment.head);
  if (known_paths == heads_.end() || segment.path.empty()) return false;
  const auto branch = branches_.find(segment.path.front());
  if (branch == branches_.end()) return false;
  const auto alike = branch->second.find(key_of(segment, 0));
  if (alike == branch->second.end()) return false;
  const auto found = find_in(alike->second, segment);
  if (found == alike->second.end() || found + 1 == alike->second.end()) return false;
  std::rotate(found, found + 1, alike->second.end());
  return true;
}

std::vector<SegmentPtr> Paths::starting(std::uint64_t head, std::uint64_t key) const {
  const auto known_paths = heads_.find(head);
  if (known_paths == heads_.end()) return {};
  return continuing(known_paths->second.front()->path.front(), key);
}

std::vector<SegmentPtr> Paths::continuing(std::uint64_t path_node, std::uint64_t key) const {
  const auto branch = branches_.find(path_node);
  return branch == branches_.end() ? Segments{} : found_in(branch->second, key);
}

std::vector<SegmentPtr> Paths::reading(std::uint64_t path_node, std::int32_t storage) const {
  return found_in(reads_, read_key(path_node, storage));
}

std::vector<SegmentPtr> Paths::ending(std::uint64_t path_node) const {
  return found_in(ends_, path_node);
}

const std::vector<SegmentPtr>& Paths::of_head(std::uint64_t head) const {
  static const Segments& none = *new Segments;
  const auto found = heads_.find(head);
  return found == heads_.end() ? none : found->second;
}

}  // namespace groove::tracer
