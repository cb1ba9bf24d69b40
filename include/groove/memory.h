// Statistics and limits of the memory that tensors live in.
#pragma once

#include <cstddef>

namespace groove::memory {

struct Statistics {
  std::size_t allocated = 0;  // bytes held by live tensors, rounded up to their size class
  std::size_t cached = 0;     // bytes kept for reuse
  std::size_t reserved = 0;   // bytes obtained from the system
  std::size_t peak = 0;       // highest `allocated`, to within 64 KiB a thread
};
Statistics statistics();
void reset_peak();
/// Gives cached memory that is not part of a shared slab back to the system.
void empty_cache();
/// Reserving more than this throws groove::Error; 0 for no limit.
void set_limit(std::size_t bytes);

}  // namespace groove::memory
