// The repeat finder: stretches that come again anywhere in the last calls, with other things
// between. It works on a copy of the stream, beside the program.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tracer/calls/stretch.h"

namespace groove::tracer {

// A call, or the run of a segment as a whole, and the sums of everything before it.
struct Atom {
  Stretch before;
  std::uint64_t head = 0, last = 0;  // its first and last call
  std::uint64_t given = 0;           // Given::sizes by then
  std::uint32_t cost = 0;            // wraps around, like the next
  // Twice the runs before, and one more when no stretch goes on beyond it. (Written once for each
  // eager op, and so no bit-field.)
  std::uint32_t runs_and_end = 0;
  std::uint32_t any_size = 0;  // calls and runs before that came at sizes without end
  std::uint32_t position = 0;  // where the view begins, or those of the run that move; 0: none
  std::uint32_t runs() const { return runs_and_end >> 1; }
  bool ends_step() const { return runs_and_end & 1; }
};

// What repeats: tokens [begin, end), its latest place, and how often it comes without overlapping.
struct Repeat {
  std::size_t begin = 0, end = 0;
  std::size_t count = 0;
  bool operator==(const Repeat&) const = default;
};

struct Search {
  std::vector<std::uint64_t> tokens;  // one for each atom, and after each end of a step its own
  std::vector<std::uint64_t> atoms;   // [token] the number of the atom, or of the one to come
  std::vector<Repeat> found;
  std::int64_t price = 0;
  std::atomic<bool> is_done{false};
};

/// Repeats that cover most first; what one covers is not counted for another.
std::vector<Repeat> find_repeats(const std::vector<std::uint64_t>& tokens);
/// Has it done beside the program; `is_done` is set when `found` is there. `search.price` is spent
/// from now on.
void start_search(const std::shared_ptr<Search>& search);
/// What a search in so many tokens takes, as far as is known, in nanoseconds.
std::int64_t price_of_search(std::size_t tokens);

}  // namespace groove::tracer
