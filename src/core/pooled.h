// Vectors and objects for what a step makes and drops again: their memory comes from the caching
// allocator, so that a steady step asks nothing of the system's.
#pragma once

#include <cstddef>
#include <vector>

#include "src/core/allocator.h"

namespace groove {

template <typename T>
struct Pooled {
  using value_type = T;
  Pooled() = default;
  template <typename Other>
  Pooled(const Pooled<Other>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_object(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept {
    deallocate_object(block, count * sizeof(T));
  }
  bool operator==(const Pooled&) const { return true; }
};

// Base of objects that are made by `new`.
struct FromPool {
  static void* operator new(std::size_t bytes) { return allocate_object(bytes); }
  static void operator delete(void* object, std::size_t bytes) { deallocate_object(object, bytes); }
};

template <typename T>
using PooledVector = std::vector<T, Pooled<T>>;

}  // namespace groove
