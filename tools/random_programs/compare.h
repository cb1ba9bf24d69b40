// Ways to run a program, what differs between two runs, and making a failing program small.
#pragma once

#include <functional>

#include "tools/random_programs/machine.h"

namespace groove::random_programs {

struct Way {  // a way to run a program
  bool is_traced = false;
  bool is_interpreted = false;   // kernels by the interpreter, else by generated code
  bool is_node_by_node = false;  // the recorded graph run by eager kernels: the tracer without jit/
  bool is_synchronous = true;
  bool is_avx2 = false;
  bool plants_fault = false;
  int threads = 1;
  std::int64_t exit = -1;  // the replay's word before which it is left
};
std::string print(const Way& way);

/// Sets everything up, runs, and leaves the process in eager mode.
Log run(const Program& program, const Way& way);
/// Empty when equal, otherwise the first line that differs in both.
std::string difference(const Log& expected, const Log& actual);

/// Drops whatever can go while `fails` stays true.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

struct Totals {
  std::uint64_t hits = 0, leaves = 0, segments = 0;
};
Totals& totals();

}  // namespace groove::random_programs
