// How often the process asks for memory: by C++'s allocation functions, Groove's calls and the
// program's alike.
#pragma once

#include <atomic>
#include <cstdint>

std::int64_t allocations();  // so far

/// From now on notes, for each allocation, how far the program has got: `progress` grows with each
/// of its steps.
void watch_allocations(const std::atomic<std::uint64_t>& progress);
/// Ends that. Gives the median of `steps` steps, those without an allocation included: now and then
/// one is recorded, or another thread looks for loops meanwhile.
std::int64_t allocations_of_a_step(std::int64_t steps);
