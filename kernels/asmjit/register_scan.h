// Which register is whose, in one pass over a function that is done (linear scan: Poletto and
// Sarkar, 1999), instead of asmjit's own allocation, which takes most of the time that it takes to
// make a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/asmjit/live_intervals.h"

namespace groove::kernels::assembly {

/// Puts registers of the machine in the places of all virtual ones of `function`, with what does
/// not fit in them on its stack, and adds what saves those that belong to its caller. Its one
/// argument comes in the first register of the calling convention. `uses` are in the order of the
/// nodes; a register of `compiler` is 64 bits wide, a mask, or a vector of `vector_bytes`. False,
/// and nothing has changed, for what it has no rule for.
bool assign_registers(asmjit::x86::Compiler& compiler, asmjit::FuncNode& function,
                      const asmjit::x86::Gp& argument, std::uint32_t vector_bytes,
                      const std::vector<NewUse>& uses);

}  // namespace groove::kernels::assembly
