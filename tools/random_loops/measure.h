// What the automatic mode makes of drawn programs: how much runs compiled once they are under way,
// and the time against eager mode.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/random_loops/child.h"

namespace groove::random_loops {

/// A program that can be run at any length. Its text says what it is.
struct Subject {
  std::uint64_t seed = 0;
  std::string text;
  std::function<Task(int steps)> task;
};

struct Measuring {
  std::vector<int> steps = {50, 500, 5000};
  int pairs = 3;         // of an eager and an automatic run, in alternating order; fewer long ones
  double longest = 20;   // seconds; an eager run that would take longer is left out
  int limit = 60;        // seconds for one run
  int worst = 15;        // programs that are listed at the end
  bool is_busy = false;  // another process spins on each core
  double least_share = 0;  // percent in the last half, median: less is a failure
  std::string out;         // JSON lines: one for each program and number of steps
};

/// Writes a line for each program and number of steps as soon as it is known, and a summary; gives
/// the number of programs that failed or showed other bits than in eager mode, and one more for too
/// low a share.
int measure(std::uint64_t seed, std::uint64_t count,
            const std::function<Subject(std::uint64_t seed)>& draw, const Measuring& options);

}  // namespace groove::random_loops
