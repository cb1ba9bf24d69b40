// Storages: from the cache, as arenas of compiled programs, and with guard pages for tests.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "src/core/allocator.h"
#include "src/core/check.h"

namespace groove {
namespace {

constexpr std::size_t kPage = 4096, kHugePage = 2 << 20;
constexpr std::size_t kSmallArena = 512 << 10;

std::atomic<bool> guard_pages{false};

StoragePtr new_storage(std::size_t bytes, Device device) {
  StoragePtr storage(new (allocate_object(sizeof(Storage))) Storage);
  storage->bytes = bytes;
  storage->device = device;
  return storage;
}

// [ … data | forbidden page ]; free_context is the start of the mapping.
void allocate_guarded(Storage& storage) {
  const std::size_t usable = (storage.bytes + kPage - 1) / kPage * kPage;
  void* const start =
      mmap(nullptr, usable + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  GROOVE_CHECK(start != MAP_FAILED, "memory: cannot allocate {} bytes with guard pages",
               storage.bytes);
  mprotect(static_cast<char*>(start) + usable, kPage, PROT_NONE);
  storage.data = static_cast<char*>(start) + usable - storage.bytes;
  storage.free_context = start;
  storage.free = [](Storage& s) {
    note_allocated(-static_cast<std::ptrdiff_t>(s.bytes));
    munmap(s.free_context, (s.bytes + kPage - 1) / kPage * kPage + kPage);
  };
  note_allocated(static_cast<std::ptrdiff_t>(storage.bytes));
}

}  // namespace

StoragePtr make_storage() { return new_storage(0, Device()); }

StoragePtr allocate_storage(std::size_t bytes, Device device) {
  GROOVE_CHECK(device.is_cpu(),
               "memory: cannot allocate on {}: this build of Groove has no GPU backend",
               device.str());
  StoragePtr storage = new_storage(bytes, device);
  if (guard_pages.load(std::memory_order_relaxed)) [[unlikely]] {
    allocate_guarded(*storage);
  } else {
    storage->data = allocate(bytes);
    storage->free = [](Storage& s) { deallocate(s.data, s.bytes); };
  }
  return storage;
}

StoragePtr allocate_arena(std::size_t bytes) {
  // Each thread has one for every segment that it runs: huge pages are for those that fill them.
  if (bytes <= kSmallArena && !guard_pages.load(std::memory_order_relaxed))
    return allocate_storage(bytes);
  // A last huge page that would mostly lie empty is made of small ones.
  const std::size_t empty = (kHugePage - (bytes & (kHugePage - 1))) & (kHugePage - 1);
  const std::size_t unit = empty <= bytes / 32 ? kHugePage : kPage;
  const std::size_t room = (std::max<std::size_t>(bytes, 1) + unit - 1) & ~(unit - 1);
  StoragePtr storage = new_storage(room, Device());
  storage->data = map_memory(room, kHugePage);
  storage->free = [](Storage& s) { unmap_memory(s.data, s.bytes); };
  for (std::size_t at = 0; at < bytes; at += kPage)
    *static_cast<volatile char*>(static_cast<char*>(storage->data) + at) = 0;
  return storage;
}

void destroy(Storage* storage) {
  if (storage->free) storage->free(*storage);
  storage->~Storage();
  deallocate_object(storage, sizeof(Storage));
}

void set_guard_pages(bool is_on) { guard_pages.store(is_on, std::memory_order_relaxed); }

}  // namespace groove
