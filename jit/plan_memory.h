// Where arena buffers lie: a static plan from the levels in which each is alive, and the checker
// that does not trust it.
#pragma once

#include <string>
#include <vector>

#include "jit/schedule.h"

namespace groove::jit {

struct MemoryPlan {
  std::int64_t bytes = 0;
  struct Freed {  // arena bytes that nothing reads any more after a level
    std::int32_t level;
    std::int64_t offset, bytes;
    ScalarType dtype;  // that the last values there had
  };
  std::vector<Freed> freed;  // for tests, which fill them with NaN
  // Per buffer: whose memory it uses, and the levels in which that is in use; no slot: not the
  // arena's.
  struct Home {
    BufferId slot = -1;
    std::int32_t first = -1, last = -1;
  };
  std::vector<Home> homes;
  // Per output that does not write an input: where in the arena it could lie, too; -1: nowhere.
  std::vector<std::int64_t> outputs;
};

/// Sets the offset of every arena buffer, from `begin` on, 64-byte aligned. A result takes the
/// place of an operand that it alone reads last, element by element. Outputs get places where those
/// are free from their first write to the end; for them alone the arena does not grow.
MemoryPlan plan_memory(Lowered& lowered, const Schedule& schedule, std::int64_t begin);

/// Replays the launches over a map of who owns which bytes: every load must find what its buffer's
/// launches stored. Empty when it does, otherwise what is wrong.
std::string check_memory(const Lowered& lowered, const Schedule& schedule);

}  // namespace groove::jit
