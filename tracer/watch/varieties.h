// Which lines come at sizes without end: there, sizes do not tell loops apart.
#pragma once

#include <cstdint>

namespace groove::tracer {

struct SizesOfLine {
  bool are_endless = false;
  bool are_news = false;  // they are others than before, and may yet turn out to be endless
};
/// `without`: the hash of a call without what may be a size; `shown`: that of all its attributes,
/// which does not depend on where the program lies in memory. Counts them for this thread.
SizesOfLine note_sizes(std::uint64_t without, std::uint64_t shown);

}  // namespace groove::tracer
