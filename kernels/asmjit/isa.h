// The instruction sets that generated code comes in. Both give the same bits; the limit exists for
// tests, for comparisons and for users whose CPU clocks down under 512-bit code.
#pragma once

#include <cstdint>

namespace groove::kernels {

enum class Isa : std::uint8_t { kAvx2, kAvx512 };

/// As GROOVE_ISA spells it.
const char* name(Isa isa);
/// What new code is generated for: the best this CPU has within the limit.
Isa isa();
/// True when this CPU and its operating system can run code of that instruction set.
bool has_isa(Isa isa);
/// Code that exists already keeps running; code for the new limit is generated on next use.
void set_isa_limit(Isa limit);

}  // namespace groove::kernels
