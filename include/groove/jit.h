// Saying something to the tracer: modes, guards, and what it found. Nothing here is needed for a
// loop to be compiled.
#pragma once

#include <cstdint>
#include <string>

namespace groove::jit {

enum class Mode : std::uint8_t {
  kEager,   // every op runs when it is called
  kAuto,    // loops are found and compiled
  kStrict,  // as kAuto, compiling at once; leaving compiled code throws groove::Error
};

/// For the whole process; overrides GROOVE_MODE. Pending work is made real first.
void set_mode(Mode mode);
Mode mode();

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
};
Summary summary();

/// For every segment: where, how long, what it cost, hits, leaves and their reasons.
std::string explain();

}  // namespace groove::jit
