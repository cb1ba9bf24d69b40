// A program run in a process of its own: what it logged, how it ended, what its tracer did.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/random_loops/program.h"

namespace groove::random_loops {

struct Way {
  const char* name;
  std::vector<std::pair<const char*, const char*>> environment;
  bool has_guard_pages = false;  // touching freed or foreign memory is a fault at its place
  bool is_shared_out = false;    // kernels share work among threads however small it is
  int pauses = 0;                // the tracer pauses in every second stretch of so many steps
  int slowness = 1;              // a run may take so many times the limit
};
/// The first one is eager mode, which the others are compared with.
const std::vector<Way>& all_ways();

// Processor times are seconds. What the process uses beyond the program's own threads is the
// compile thread's, and with more than one kernel thread also theirs.
struct Counters {
  double seconds = 0;          // of the program alone, by the clock on the wall
  double program_seconds = 0;  // of the threads that the program has
  double process_seconds = 0;  // of the process from its first instruction to its end
  double compile_milliseconds = 0;
  std::uint64_t segments = 0, hits = 0, leaves = 0, ops_compiled = 0, ops_eager = 0;
  std::int64_t errors = 0;  // that the program caught
  // From note_half() to the end.
  double steady_seconds = 0;  // of the program's first thread
  std::uint64_t steady_compiled = 0, steady_eager = 0, steady_leaves = 0;

  double share() const;         // of the operators that ran compiled
  double steady_share() const;  // in the last half
};
/// Half of the iterations are done.
void note_half();
/// A thread of the program ends: what it used is the program's.
void note_thread_end();

struct Outcome {
  std::string end;        // "": it came to its end
  std::string log, said;  // said: on standard error
  std::string report;     // the library's own, as JSON, when it was asked for
  Counters counters;
};
/// Something to run: writes down what it sees, and gives how many errors it caught.
using Task = std::function<std::int64_t(std::FILE* log)>;
Task task_of(Program program);
enum class Report : bool { kNo, kYes };  // asking costs time; eager operators are counted by line
Outcome run_in_child(const Task& task, const Way& way, int seconds, Report report = Report::kNo);
Outcome run_in_child(const Program& program, const Way& way, int seconds,
                     Report report = Report::kNo);
/// In this process, the log on standard output.
Counters run_here(const Program& program, const Way& way);
Counters run_here(const Task& task, const Way& way);

/// "" when nothing differs; otherwise a class ("differs", "signal 11", "hang", …), and then how.
struct Difference {
  std::string kind, detail;
};
Difference compare(const Outcome& expected, const Outcome& got);

/// The smallest program found that fails in this way with the same kind; runs may take `seconds`,
/// all of them about `budget` seconds.
Program shrink(const Program& program, const Way& way, const std::string& kind, int seconds,
               int budget);

}  // namespace groove::random_loops
