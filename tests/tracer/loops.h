// Small training loops in LibTorch style, each a situation that breaks naive tracers. A loop writes
// everything observable to its log: losses, parameters, gradients, versions, random state.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace groove::testing {

class Log;

struct Loop {
  const char* name;
  void (*run)(int steps, Log& log);
  bool is_compiled = true;    // does a segment have to be armed and hit?
  double steady_share = 0.9;  // of its operators that run compiled at least (steady_test.cpp)
};

const std::vector<Loop>& loops();
/// Backward and optimizer in odd shapes (odd_loops.cpp).
const std::vector<Loop>& odd_loops();
/// User code in a backward; writes through views and raw pointers (code_loops.cpp).
const std::vector<Loop>& code_loops();

/// Results whose history outlives the stretch that made them (live_loops.cpp).
const std::vector<Loop>& live_loops();
/// What is said of results that a backward has used up (used_up_loops.cpp).
const std::vector<Loop>& used_up_loops();
/// Writes through views of what has a history (view_loops.cpp).
const std::vector<Loop>& view_loops();
/// Over complex numbers (complex_loops.cpp).
const std::vector<Loop>& complex_loops();
/// In mixed precision (mixed_loops.cpp).
const std::vector<Loop>& mixed_loops();
/// Inputs that do not live long, or become others (life_loops.cpp).
const std::vector<Loop>& life_loops();
/// Gradients that are kept for longer than a step (grad_loops.cpp).
const std::vector<Loop>& grad_loops();

/// The tape's finer rules: views made without recording, data(), kept gradients (rule_loops.cpp).
const std::vector<Loop>& rule_loops();

/// In which what segments rely on changes (hazard_loops.cpp).
const std::vector<Loop>& hazard_loops();

/// Ways to bring data in (data_loops.cpp).
const std::vector<Loop>& data_loops();

/// Custom functions and hooks made anew in each iteration; errors (user_code_loops.cpp).
const std::vector<Loop>& user_code_loops();

/// Runs the loop from the same seed and gives its log.
std::string run_loop(const Loop& loop, int steps);

}  // namespace groove::testing
