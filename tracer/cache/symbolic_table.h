// Which loops come at sizes that are never the same: recordings of them, by head and structure, and
// the symbolic segments made of those.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tracer/cache/symbolic_segment.h"

namespace groove::tracer {

/// Symbolic segments of a head that can be run, the longest first.
std::vector<SymbolicSegmentPtr> symbolic_segments_of(std::uint64_t head);
inline constinit std::atomic<std::uint64_t> symbolic_filter{0};
/// A cheap "perhaps".
inline bool may_have_symbolic_segment(std::uint64_t head) {
  return symbolic_filter.load(std::memory_order_relaxed) >> (head & 63) & 1;
}

/// An iteration of this head came at sizes that no segment has: is it to be recorded?
bool wants_sample(std::uint64_t head);
/// A call of the head shows these numbers, the first of them being number `first`. Would a
/// recording tell nothing, as there is one with them, and another with others? Not without end:
/// others may never come.
bool tells_nothing(std::uint64_t head, std::size_t first, const std::vector<std::int64_t>& shown);
/// Are there too few recordings of the head for a symbolic segment, this one included? Then it is
/// noted alone, by whatever thread.
bool is_early_sample(std::uint64_t head);
void note_sample(Segment& segment);
enum class Sample : std::uint8_t {
  kCovered,         // it is one of a symbolic segment's, and must not be compiled by itself
  kOfNewStructure,  // it differs from what the head had before in more than sizes
  kOfFewSizes,      // it is at sizes that came before, and no others did for long
  kFixed,           // … or in nothing, or its sizes may not be others
  kNoted,
};
/// A recording of the head; a symbolic segment is made when there are enough.
Sample add_sample(const SegmentPtr& segment);
/// Lets go of those whose recording is in use no more.
void drop_retired_symbolic_segments();
void forget_all_symbolic_segments();
/// For fork(): held, nobody is in the middle of a change.
std::mutex& symbolic_table_mutex();

}  // namespace groove::tracer
