// Executable memory of both tiers, pooled: pieces lie in few large blocks, each mapped twice, so
// that no page is writable and executable at one address and a process may hold very many kernels.
#pragma once

#include <cstddef>

namespace groove::kernels::assembly {

struct CodeMemory {
  void* code = nullptr;      // where it runs, aligned to 64 bytes
  void* writable = nullptr;  // the same memory, where it is written
};

/// Throws groove::Error when executable memory runs out.
CodeMemory reserve_code(std::size_t bytes);
/// Gives a piece back, by where it runs; nothing may run it any more. Null does nothing.
void release_code(const void* code) noexcept;
/// What all pieces take now.
std::size_t code_bytes();

}  // namespace groove::kernels::assembly
