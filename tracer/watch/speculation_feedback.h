// What threads have learned about loops: which results were held although a recording did not give
// them, which views move, and what could not be recorded. Recordings that follow respect it.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tracer/calls/segment.h"
#include "tracer/record/recorder.h"

namespace groove::tracer {

void add_widened(std::uint64_t head, const Recorder::Widened& outputs);
Recorder::Widened widened(std::uint64_t head);
/// The view that this call makes moves. Where runs had to be left to learn that, all are taken to
/// move from the second such call on.
void add_moving(std::uint64_t head, std::size_t call, bool was_left);
Recorder::Moving moving(std::uint64_t head);
/// A result of this call is read again after its memory was handed out: for what comes then it is
/// an input, filled by the program. A recording ends where the memory is handed out.
void add_filled(std::uint64_t call);
bool is_filled(std::uint64_t call);
/// An operand of this line was another tensor than in the recording, as it is where a program takes
/// some of many: from now on the line takes any. `is_made`: also what the iteration has made, so
/// that a recording ends before.
void note_other_operand(std::uint64_t line, bool is_made);
/// What this line takes is written as well, so it matters which tensor it is.
void add_written_operand(std::uint64_t line);
Operands operands_of(std::uint64_t line);
/// Does a recording not respect what has been learned since?
bool is_outdated(const Segment& segment);

struct Failure {
  std::string source;  // "file:line" of the loop's first call
  Reason reason;
  std::uint64_t count = 0;
  std::string where = {};        // the call at which it failed last
  double milliseconds = 0;       // that the loop takes up to there
  std::uint64_t iterations = 0;  // that ran eagerly for it since
};
/// Counts a loop that could not be recorded, for explain().
void count_failure(const std::string& source, Reason reason, const std::string& where = "",
                   double milliseconds = 0);
void count_eager_iterations(const std::string& source, Reason reason, std::uint64_t count);
std::vector<Failure> all_failures();

void forget_speculation_feedback();
/// For fork(): held, nobody is in the middle of learning.
std::mutex& speculation_feedback_mutex();

}  // namespace groove::tracer
