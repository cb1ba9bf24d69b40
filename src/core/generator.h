// The process's random state: a key and the number of the next draw (numerics.md §6). An op that
// draws takes one (seed, draw) pair at its call and passes it on as numbers.
#pragma once

#include <cstdint>

#include "groove/random.h"

namespace groove {

struct Draw {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};

/// The next draw; advances the counter.
Draw draw_next();
/// Advances by `count` at once and returns the first: for a program that draws many times.
Draw draw_many(std::uint64_t count);

// While one is open, this thread draws from a key of its own, from draw `first` on; the process's
// counter stays (loader workers, numerics.md §6; functions of control flow while they are captured).
class DrawScope {
 public:
  explicit DrawScope(std::uint64_t key, std::uint64_t first = 0);
  ~DrawScope();
  DrawScope(const DrawScope&) = delete;
  DrawScope& operator=(const DrawScope&) = delete;
  /// The number of the next draw.
  std::uint64_t next() const { return state_.draws; }

 private:
  RandomState state_;
  RandomState* previous_;
};

}  // namespace groove
