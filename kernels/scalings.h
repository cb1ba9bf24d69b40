// Multiplication by a power of two beyond the range of a factor, a * 2^n rounded once: two products,
// of which the first is marked as exact by whoever writes them (kernels/functions/parts.h). Code
// generators whose machine has an instruction for it find them here.
#pragma once

#include "kernels/ir.h"

namespace groove::kernels {

/// Instr::imm of a kMul: a product that is exact by construction, one factor being a power of two.
inline constexpr std::uint64_t kExactProduct = 1;
/// Instr::imm of a kMul that only join_scalings() makes: args[0] * 2^args[1].
inline constexpr std::uint64_t kScaling = 2;

/// Is there a product that is marked?
bool has_scalings(const Kernel& kernel);
/// Of a well-formed kernel: the two products become one kMul with kScaling, and what made their
/// factors goes where nothing else uses it.
Kernel join_scalings(const Kernel& kernel);

}  // namespace groove::kernels
