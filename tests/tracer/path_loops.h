// Loops whose iterations do not all go the same way: branches on values, lengths and shapes that
// vary, things done now and then. Each gives a log of everything observable.
#pragma once

#include <string>
#include <vector>

namespace groove::testing {

struct PathLoop {
  const char* name;
  void (*run)(int steps, std::string& log, void (*half_way)());
  double share = 0.9;  // of the operators in the second half that must run compiled
};

const std::vector<PathLoop>& path_loops();

/// Runs the loop from the same seed and gives its log; calls `half_way` between its halves.
std::string run_path_loop(const PathLoop& loop, int steps, void (*half_way)());

}  // namespace groove::testing
