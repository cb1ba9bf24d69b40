// A program run in a process of its own: what it logged, how it ended, what its tracer did.
#pragma once

#include <string>
#include <vector>

#include "tools/random_loops/program.h"

namespace groove::random_loops {

struct Way {
  const char* name;
  std::vector<std::pair<const char*, const char*>> environment;
  bool has_guard_pages = false;  // touching freed or foreign memory is a fault at its place
};
/// The first one is eager mode, which the others are compared with.
const std::vector<Way>& all_ways();

struct Counters {
  double seconds = 0;  // of the program alone
  double compile_milliseconds = 0;
  std::uint64_t segments = 0, hits = 0, leaves = 0, ops_compiled = 0, ops_eager = 0;
  std::int64_t errors = 0;  // that the program caught
};
struct Outcome {
  std::string end;        // "": it came to its end
  std::string log, said;  // said: on standard error
  Counters counters;
};
Outcome run_in_child(const Program& program, const Way& way, int seconds);
/// In this process, the log on standard output.
Counters run_here(const Program& program, const Way& way);

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
