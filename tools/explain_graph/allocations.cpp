// In a file of its own, so that no caller sees that these are malloc and free.
#include "allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<std::int64_t> count{0};

std::int64_t allocations() { return count.load(); }

void* operator new(std::size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  void* const block = std::malloc(std::max<std::size_t>(bytes, 1));
  if (!block) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
