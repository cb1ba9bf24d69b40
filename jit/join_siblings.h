// Narrow products of one left matrix become one launch.
#pragma once

#include "jit/launch_plan.h"

namespace groove::jit {

/// Joins products that read the same left matrix at the same level where their columns, side by
/// side, take less time than one after the other (kernels/contraction/joined.h). `is_again`: per
/// node, or null, as in FusionOptions; what runs a second time joins nothing that runs for the
/// first. Needs launches in an order that respects dependencies, and keeps one.
void join_siblings(Lowered& lowered, const std::vector<char>* is_again);

/// Tests: whatever may be joined is, gain or not.
void set_joins_all_siblings(bool is_on);

}  // namespace groove::jit
