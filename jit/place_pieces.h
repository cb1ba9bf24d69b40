// Writing the pieces of a concatenation where they belong, instead of copying them there.
#pragma once

#include "jit/uses.h"

namespace groove::jit {

/// Where a value is computed straight into its part of a concatenation, says so in
/// Fusion::placements. Needs groups and stored values.
void place_pieces(const Graph& graph, const Uses& uses, Fusion& fusion);

}  // namespace groove::jit
