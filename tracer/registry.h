// All segments of the process, by their head word, and the thread that compiles them.
#pragma once

#include <string>
#include <vector>

#include "tracer/recorder.h"
#include "tracer/segment.h"

namespace groove::tracer {

/// A cheap "perhaps": false means that no segment has this head.
bool may_have_segment(std::uint64_t head);
/// Armed segments of a head, the most recent first.
std::vector<SegmentPtr> armed_segments(std::uint64_t head);
/// Is a segment of this head being compiled, or are there as many variants as allowed?
bool wants_segment(std::uint64_t head);

/// Hands a recorded segment to the compiler: at once, or on the compile thread. It is Armed when
/// its executable is there, Retired when compilation failed.
void submit(SegmentPtr segment, bool is_synchronous);
/// Lets the compiler replace the code of a segment that runs often: at once, or on the compile thread
/// when it has nothing else to do.
void promote(SegmentPtr segment, bool is_synchronous);
void retire(const SegmentPtr& segment);
/// Waits until nothing is being compiled.
void wait_for_compiler();
void forget_all_segments();

void add_widened(std::uint64_t head, const Recorder::Widened& outputs);
Recorder::Widened widened(std::uint64_t head);
/// A view of this word moved; from the second such word on, all are taken to move.
void add_moving(std::uint64_t head, std::size_t word);
Recorder::Moving moving(std::uint64_t head);

/// Counts a loop that could not be recorded, for explain().
void count_failure(const std::string& place, Reason reason);

struct Failure {
  std::string place;
  Reason reason;
  std::uint64_t count;
};
std::vector<SegmentPtr> all_segments();
std::vector<Failure> all_failures();

}  // namespace groove::tracer
