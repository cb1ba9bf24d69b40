// What is compiled of drawn programs, and their time against eager mode.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/random_loops/child.h"

namespace groove::random_loops {

struct MeasureOptions {
  std::vector<int> steps{50, 500, 5'000};
  int pairs = 3;
  int limit = 20;        // seconds for one run
  bool is_busy = false;  // a process spins on each core meanwhile
  std::string out;       // a file of one JSON object for each program and number of steps; "": none
};

/// Runs each program in eager and in automatic mode in turns. Gives how many differed.
int measure(std::uint64_t first, std::uint64_t count,
            const std::function<Program(std::uint64_t)>& program_of, const MeasureOptions& options);

}  // namespace groove::random_loops
