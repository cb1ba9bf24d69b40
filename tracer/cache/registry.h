// All segments of the process, by their head call, and their compilation.
#pragma once

#include <atomic>
#include <vector>

#include "tracer/calls/segment.h"

namespace groove::tracer {

/// A cheap "perhaps": false means that no segment has this head.
inline constinit std::atomic<std::uint64_t> head_filter[64] = {};
inline bool may_have_segment(std::uint64_t head) {
  return head_filter[head >> 6 & 63].load(std::memory_order_relaxed) >> (head & 63) & 1;
}
/// Is no segment of this head being compiled?
bool wants_segment(std::uint64_t head);
/// The same, and from now on this thread records it: for others the answer is no until it is
/// released. One that takes too long keeps nobody waiting.
bool claim_recording(std::uint64_t head);
void release_recording(std::uint64_t head);

// Armed segments by what the program does (paths.h), the most recently taken first. They are the
// same as long as path_changes is.
inline constinit std::atomic<std::uint64_t> path_changes{0};
std::vector<SegmentPtr> armed_starting(std::uint64_t head, std::uint64_t key);
std::vector<SegmentPtr> armed_continuing(std::uint64_t path_node, std::uint64_t key);
std::vector<SegmentPtr> armed_reading(std::uint64_t path_node, std::int32_t storage);
std::vector<SegmentPtr> armed_ending(std::uint64_t path_node);
/// Segments that share the first `calls` calls with this one, in the order of their making.
std::vector<SegmentPtr> armed_through(const Segment& segment, std::size_t calls);
/// The run of a segment went on as one of another: the other is the first choice from now on.
void note_taken(const SegmentPtr& segment);
/// It was begun and left: the last choice of its head.
void note_left(const SegmentPtr& segment);

/// Hands a recorded segment to the compiler: at once, or beside the program. It is Armed when
/// its executable is there, Retired when compilation failed. False when it could not be compiled
/// three times already.
bool submit(SegmentPtr segment, bool is_synchronous);
/// Takes in a segment that needs no compiling and that nobody is led to (symbolic_segment.h).
void adopt(const SegmentPtr& segment);
/// Is there an armed segment of just these calls (a Stretch's order and length)?
bool has_armed(std::uint64_t head, std::uint64_t order, std::size_t length);
/// Some armed segment of this head, or null.
SegmentPtr armed_of_head(std::uint64_t head);
/// Compiles what is no loop but belongs to one: it is Armed or Retired afterwards, and Retired
/// later, without a failure, when there is no room for it.
void compile_program(const SegmentPtr& program, bool is_synchronous);
/// For Segment::make_executable: one of the programs that a graph has at many sizes. Nobody reads
/// its graph again.
std::shared_ptr<Executable> program_of_many_sizes(Compiler& compiler, Segment& program);
/// Lets the compiler replace the code of a segment that runs often: at once, or beside the
/// program.
void promote(SegmentPtr segment, bool is_synchronous);
void retire(const SegmentPtr& segment, const char* why = "given up");
/// Compiled it is slower than eager mode: it goes, and the same is not compiled again.
void let_go(const SegmentPtr& segment);
/// How many segments have gone so far.
std::uint64_t retirements();
void forget_all_segments();

std::vector<SegmentPtr> all_segments();
// Of the segments that were dropped because their model is gone.
struct Gone {
  std::uint64_t hits = 0, leaves = 0;
  double compile_milliseconds = 0;
};
Gone gone_segments();

}  // namespace groove::tracer
