// Groove counts every storage, arenas of compiled programs included, rounded up to what the
// allocator hands out.
#include <groove/jit.h>
#include <groove/memory.h>

#include "watch.h"

struct MemoryWatch::State {};

MemoryWatch::MemoryWatch() { groove::memory::reset_peak(); }
MemoryWatch::~MemoryWatch() = default;
std::string MemoryWatch::library() const { return MEMORY_LIBRARY; }
std::size_t MemoryWatch::peak() const { return groove::memory::statistics().peak; }
std::size_t MemoryWatch::held() const { return groove::memory::statistics().allocated; }
void MemoryWatch::begin_steady() {
  groove::jit::synchronize();
  groove::memory::reset_peak();
}
