// Ways to run a program, what differs between two runs, and making a failing program small.
#pragma once

#include <functional>

#include "tools/random_programs/machine.h"
#include "tools/random_programs/pass_orders.h"

namespace groove::random_programs {

enum class Tier { kInterpreter, kAsmjit, kLlvm, kPromoted };  // kPromoted: asmjit, then LLVM

struct Way {  // a way to run a program
  bool is_traced = false;
  Tier tier = Tier::kAsmjit;
  bool is_node_by_node = false;  // the recorded graph run by eager kernels: the tracer without jit/
  bool is_synchronous = true;
  bool is_avx2 = false;
  bool is_fused = true;
  bool is_never_serial = false;     // small work is split over all threads, too
  bool fills_freed_memory = false;  // with NaN
  bool plants_fault = false;
  bool prints_graphs = false;  // of what is compiled, on standard output
  int hot = 1;
  int threads = 1;
  bool is_checked = false;            // every compiled run is compared with eager mode, too
  std::int64_t exit = -1;             // the replay's word before which it is left
  std::int64_t failing_live_in = -1;  // the slot whose check fails
  PassChoice passes = PassChoice::kAsIs;
  std::uint64_t pass_seed = 0;
};
/// Why there is no LLVM tier; empty when there is.
std::string llvm_problem();
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
