#include "kernels/asmjit/code_memory.h"

#include <asmjit/core.h>

#include <mutex>
#include <string>

#include "groove/error.h"
#include "src/core/fork.h"

namespace groove::kernels::assembly {
namespace {

// Never destroyed: code may run until the last thread ends.
asmjit::JitAllocator* new_allocator() {
  asmjit::JitAllocator::CreateParams params;
  params.options = asmjit::JitAllocatorOptions::kUseDualMapping;
  // One mapping per kernel would meet the system's limit on mappings; blocks hold many.
  params.blockSize = 1u << 20;
  return new asmjit::JitAllocator(&params);
}

struct Pool {
  std::mutex mutex;
  asmjit::JitAllocator* allocator = new_allocator();
};
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

// Two mappings of one piece of memory are shared with a forked child, and both processes would put
// new code at the same place: the child begins a pool of its own, and runs the old code where it
// is.
[[maybe_unused]] const bool is_fork_handled = at_fork(
    ForkRank::kCode, [] { pool().mutex.lock(); }, [] { pool().mutex.unlock(); },
    [] {
      pool().allocator = new_allocator();
      pool().mutex.unlock();
    });

}  // namespace

CodeMemory reserve_code(std::size_t bytes) {
  const std::lock_guard lock(pool().mutex);
  CodeMemory memory;
  const asmjit::Error error = pool().allocator->alloc(&memory.code, &memory.writable, bytes);
  if (error) {
    throw Error(std::string("executable memory: ") + asmjit::DebugUtils::errorAsString(error));
  }
  return memory;
}

// The allocator of a child does not know its parent's pieces and leaves them.
void release_code(const void* code) noexcept {
  if (code == nullptr) return;
  const std::lock_guard lock(pool().mutex);
  pool().allocator->release(const_cast<void*>(code));
}

std::size_t code_bytes() {
  const std::lock_guard lock(pool().mutex);
  return pool().allocator->statistics().usedSize();
}

}  // namespace groove::kernels::assembly
