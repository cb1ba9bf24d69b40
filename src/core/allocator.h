// The caching allocator under every storage and every small object of the core: 64-byte aligned
// blocks in size classes. Small blocks come from a thread-local front without an atomic; what
// overflows there and all larger blocks lie in one central cache behind a lock.
#pragma once

#include <cstddef>

#include "groove/memory.h"
#include "src/core/tensor_impl.h"

namespace groove {

/// The bytes really handed out for a request: its size class.
std::size_t allocation_size(std::size_t bytes);

/// A block of at least `bytes`, 64-byte aligned; content undefined. Throws groove::Error naming
/// the bytes when the system or the limit refuses.
void* allocate(std::size_t bytes);
/// `bytes` as given to allocate().
void deallocate(void* block, std::size_t bytes) noexcept;

/// For the core's own objects (TensorImpl, Storage): not counted in the statistics.
void* allocate_object(std::size_t bytes);
void deallocate_object(void* block, std::size_t bytes) noexcept;

/// A mapping of its own, counted and limited like the rest; alignments of 2 MiB ask for huge pages.
void* map_memory(std::size_t bytes, std::size_t alignment);
void unmap_memory(void* block, std::size_t bytes) noexcept;
/// Counts memory that was obtained past the cache.
void note_allocated(std::ptrdiff_t change) noexcept;

/// Memory of a compiled program. A large one is 2 MiB aligned, in huge pages where the system has
/// them, touched page by page here so that no step pays for a fault, and not cached.
StoragePtr allocate_arena(std::size_t bytes);

/// For tests: from now on each storage ends at a page that may not be touched, so that an
/// overread of one byte is a fault at its place. Addresses are then aligned to the size only.
void set_guard_pages(bool is_on);

}  // namespace groove
