// An object file of LLVM's as what it becomes in memory. It is linked where it is made and then
// copied to where it runs, since memory that is executable is never writable at the same address.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <cstddef>
#include <memory>

namespace groove::llvm_tier {
inline constexpr const char* kEntry = "kernel";  // the one function of a module
}

struct GrooveLlvmCode {
  /// Throws groove::Error.
  explicit GrooveLlvmCode(llvm::StringRef object);
  ~GrooveLlvmCode();
  std::size_t bytes() const;
  /// The function, once written for `address` to `writable`. Throws groove::Error.
  void* place(void* address, void* writable);

 private:
  class Sections;
  class Symbols;
  struct Linker;
  std::unique_ptr<Linker> linker_;
};
