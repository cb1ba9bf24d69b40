// libgroove-llvm.so, opened on first use and never closed.
#pragma once

#include <string>

#include "kernels/asmjit/isa.h"
#include "kernels/nest_driver.h"

namespace groove::llvm_tier {

/// Empty once the library is open and ready to compile for the current instruction set, otherwise
/// why it cannot be and what to do. Opens it and makes it ready.
std::string unavailable();
/// "22.1.8 from /…/libgroove-llvm.so"; empty when it is not open.
std::string loaded();
struct Code {
  kernels::NestFunction function = nullptr;
  const void* memory = nullptr;  // for release_code() (kernels/asmjit/code_memory.h)
};
/// Machine code for a kernel in text form. Throws groove::Error. One thread at a time; exit() and
/// fork() wait for a compilation that is under way.
Code compile(const std::string& kernel, kernels::Isa isa);
/// The same code as assembly text.
std::string listing(const std::string& kernel, kernels::Isa isa);

}  // namespace groove::llvm_tier
