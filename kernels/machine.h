// The machine that code is made for. Whatever fusion, lowering and code generation want to know of
// a processor is a field here and is passed down; nothing below asks the system by itself. So the
// same graph becomes the same launches on every machine that is given the same record.
#pragma once

#include <cstdint>

#include "kernels/asmjit/isa.h"

namespace groove::kernels {

struct Machine {
  Isa isa = Isa::kAvx2;
  int cores = 2;                        // that run at once
  int threads = 4;                      // that programs have room for
  std::int64_t first_cache = 32 << 10;  // bytes, of a core
  std::int64_t last_cache = 32 << 20;   // of all of them

  /// The same with another instruction set.
  Machine with(Isa other) const {
    Machine result = *this;
    result.isa = other;
    return result;
  }
  bool operator==(const Machine&) const = default;
};

/// The one that this process runs on, within the limit of set_isa_limit(). Room for threads is
/// what num_threads() said when it was first asked for, at least that of all cores, and enough for
/// tests on few of them.
Machine this_machine();
/// For tests, and tools that write what must not depend on where they run: cores, threads and
/// caches that this_machine() gives from now on. The instruction set stays what there is.
void set_machine(const Machine& machine);

}  // namespace groove::kernels
