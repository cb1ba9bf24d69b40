#include "tracer/watch/side_exits.h"

#include <algorithm>
#include <utility>

#include "tracer/watch/backoff.h"

namespace groove::tracer {

// Null while its last recording is compiled.
SideExits::Exit* SideExits::known(std::uint64_t exit) {
  if (exits_.size() > kMostExits) exits_.clear();
  Exit& known = exits_[exit];
  if (!std::exchange(known.has_made, false)) return &known;
  // There is a segment for it, and yet the run came to this. One that is taken often is worth its
  // price: what came now goes another way later on.
  const SegmentPtr made = known.made.lock();
  known.has_made = made && made->state.load(std::memory_order_acquire) == State::kCompiling;
  if (known.has_made) return nullptr;
  if (made && made->statistics.hits >= kProvenRuns)
    known.failures /= 2;
  else
    ++known.failures;
  known.count = 0;
  return &known;
}

bool SideExits::is_hot(std::uint64_t exit, std::uint64_t head, int repeats, bool is_lasting) {
  Exit* const left = known(exit);
  if (!left) return false;
  const int in_vain = left->failures + std::max(0, young_paths(head) - kFreePaths);
  return ++left->count >= times_needed(repeats, in_vain) || (is_lasting && in_vain == 0);
}

bool SideExits::is_hot_piece(std::uint64_t piece, int repeats) {
  Exit* const left = known(piece);
  return left && ++left->count >= times_needed(repeats, left->failures);
}

void SideExits::note_made(std::uint64_t exit, const SegmentPtr& segment) {
  Exit& known = exits_[exit];
  known.made = segment;
  known.has_made = true;
  young_[segment->head].push_back(segment);
}

void SideExits::give_up(std::uint64_t exit) {
  Exit& known = exits_[exit];
  ++known.failures;
  known.count = 0;
}

// How many paths of this head have been recorded lately and hardly been taken since?
int SideExits::young_paths(std::uint64_t head) {
  const auto found = young_.find(head);
  if (found == young_.end()) return 0;
  std::erase_if(found->second, [](const std::weak_ptr<Segment>& path) {
    const SegmentPtr segment = path.lock();
    return !segment || segment->statistics.hits >= kProvenRuns;
  });
  return static_cast<int>(found->second.size());
}

}  // namespace groove::tracer
