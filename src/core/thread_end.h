// What a thread keeps for itself ends with it in the order of the layers, whichever it used first:
// what the tracer still owes runs through those below, which are there until that is done.
#pragma once

#include <cstdint>

namespace groove {

enum class ThreadEndRank : std::uint8_t {
  kTracer,  // runs what is pending
  kVarieties,
  kTallies,
  kEagerTables,
  kGradientTables,
  kInterpreter,
  kMemory,
  kCount,
};

/// Runs `end` when this thread ends, once, in the order of ranks. May be asked for again. False
/// when the turn of the rank has passed: what is kept from then on stays.
bool at_thread_end(ThreadEndRank rank, void (*end)());

}  // namespace groove
