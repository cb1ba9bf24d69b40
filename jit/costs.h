// What work costs on one thread, in nanoseconds. Fitted by build/tools/fit-costs, which prints
// this file; nothing but speed depends on it.
#pragma once

#include <cstdint>

namespace groove::jit::costs {

inline constexpr double kInstruction = 0.0169;  // of a vectorised body, and element
inline constexpr double kNearLoad = 0.0587;     // from the first-level cache, and element
inline constexpr double kNearStore = 0.0535;    // to it
inline constexpr double kFarByte = 0.0500;      // read from or written to memory
inline constexpr double kRow = 1.82;            // of a row's end
inline constexpr double kLaunch = 19.7;         // of a kernel
inline constexpr double kBarrier = 10.0;        // between two levels on two threads
// A quarter of a core's second-level cache: such a value is there when the next one reads it.
inline constexpr std::int64_t kNearBytes = 256 << 10;

}  // namespace groove::jit::costs
