// Legal choices and orders of the compiler's passes, drawn from what the passes say they need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/pipeline.h"

namespace groove::random_programs {

enum class PassChoice : std::uint8_t { kAsIs, kOff, kReordered };

/// kOff: those without which nothing can be lowered. kReordered: these and some of the others, some
/// of them twice, in any order in which each finds what it needs.
std::vector<jit::Pass> draw_passes(PassChoice choice, std::uint64_t seed);
std::string print(const std::vector<jit::Pass>& passes);

}  // namespace groove::random_programs
