// Handles for tests: forcing an exit at a chosen call, starting afresh.
#pragma once

#include <cstdint>

namespace groove::tracer::testing {

/// Every replay leaves before matching its call number `call`; -1: none.
void force_exit_at(std::int64_t call);
/// The check of the live-in with this slot number fails wherever it is made; -1: none.
void fail_live_in_check(std::int64_t slot);
/// Drops all segments and what discovery has seen on this thread.
void forget_everything();
/// How many recordings have begun so far, in all threads.
std::uint64_t recordings();
/// Calls of the longest armed segment; 0 when none is armed.
std::int64_t longest_segment();
void set_hot(int repeats);
/// As GROOVE_CHECK; -1: as the environment says.
void set_check(std::int64_t every);
/// What segments may take; 0: as the environment says.
void set_cache_bytes(std::size_t bytes);
/// From how many bytes on an arena holds gradients, and is given back while its loop is idle; 0: as
/// ever.
void set_large_arena(std::size_t bytes);
void set_synchronous(bool is_synchronous);
/// The tracer pauses in every second stretch of so many steps; 0: where it loses time.
void set_pauses(std::int64_t every);

}  // namespace groove::tracer::testing
