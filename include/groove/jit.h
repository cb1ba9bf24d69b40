// Saying something to the tracer: modes, guards, and what it found. Nothing here is needed for a
// loop to be compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groove/detail/compiled_call.h"  // jit::compile()

namespace groove::jit {

enum class Mode : std::uint8_t {
  kEager,   // every op runs when it is called
  kAuto,    // loops are found and compiled
  kStrict,  // as kAuto, compiling at once; leaving compiled code throws groove::Error
};

/// For the whole process; overrides GROOVE_MODE. Pending work is made real first.
void set_mode(Mode mode);
Mode mode();

enum class Numerics : std::uint8_t {
  kExact,  // compiled code gives the bits of eager mode
  kFast,   // it may also use rewrites that round otherwise, each to a stated error
};

/// For the whole process; kExact at first. Pending work is made real, and loops compiled under the
/// other setting are compiled again. Eager mode, functions given to control flow and programs of
/// varying sizes are always exact. GROOVE_CHECK compares nothing under kFast.
void set_numerics(Numerics numerics);
Numerics numerics();

/// No tracing on this thread while the guard lives.
class EagerGuard {
 public:
  EagerGuard();
  ~EagerGuard();
  EagerGuard(const EagerGuard&) = delete;
  EagerGuard& operator=(const EagerGuard&) = delete;
};

/// Waits until no segment is being compiled.
void synchronize();

/// Counters over all segments of the process.
struct Summary {
  std::uint64_t segments = 0;  // armed now
  std::uint64_t hits = 0;      // iterations that ran compiled
  std::uint64_t leaves = 0;    // iterations that began compiled and were left
  double compile_milliseconds = 0;
  // Operators that launch a kernel, as the program called them or a library call expanded to them.
  std::uint64_t ops_compiled = 0;  // … that ran inside compiled iterations
  std::uint64_t ops_eager = 0;     // … that ran one by one
};
Summary summary();

/// For every segment: where, how long, what it cost, hits, leaves and their reasons.
std::string explain();

// ---- looking inside: what inspect() tells of a segment, as text ----

/// One call of the recorded iteration.
struct CallView {
  std::string file;  // the user's line
  std::uint32_t line = 0;
  std::string call;         // "relu1 = relu(linear0)"; results are named after their call
  std::string expands_to;   // operators that a library call such as backward() stands for
  bool ends_stage = false;  // the program looks at a value next, so the work up to here runs now
};

/// The graph after a pass.
struct PassView {
  std::string name, about;
  std::string graph;
  std::uint64_t operators = 0;  // in that graph
};

/// One call of generated or host code in a compiled iteration.
struct LaunchView {
  std::string operators;  // those of the optimised graph that it computes: "linear relu"
  std::string shape;      // of its loop, or batch x m x n x k of a contraction
  std::string kernel;     // what it computes for each element, in the kernels' text form
  std::string assembly;   // of the code that is there now; empty for host code
  std::int32_t stage = 0, level = 0;  // launches of one level may run at once
};

struct SegmentView {
  std::uint64_t id = 0;
  std::string source;  // "file:line" of the first call
  std::string state;  // "compiling", "armed" (in use) or "retired"
  double compile_milliseconds = 0;
  std::vector<CallView> calls;
  std::string guards;            // what is compared before compiled code may run
  std::string graph;             // as recorded
  std::vector<PassView> passes;  // in order; the last graph is what is compiled
  std::string groups;            // what fusion made of that graph
  std::string memory;            // where intermediate values lie, and when they are alive
  std::string program;           // the launches in the order they run
  std::vector<LaunchView> launches;
};

/// Every segment from the user's lines down to machine code. Meant for people: the forms of the
/// texts may change with any version. It costs about as much as compiling once more.
std::vector<SegmentView> inspect();

}  // namespace groove::jit
