// Which lines come at sizes without end: there, sizes do not tell loops apart.
#pragma once

#include <cstdint>

namespace groove::tracer {

/// `without`: the hash of a call without what may be a size; `shown`: that of all its attributes,
/// which does not depend on where the program lies in memory. Counts them for this thread.
bool has_endless_sizes(std::uint64_t without, std::uint64_t shown);

}  // namespace groove::tracer
