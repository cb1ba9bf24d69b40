// Gradient rules in eager mode.
#pragma once

#include <cstdint>

#include "src/core/op.h"

namespace groove::eager {

/// What kernels::gradient_of gives: by the parts of the rule in order, or by one fused program for
/// a signature whose parts have taken as long as it takes to make one. The bits are the same.
/// Nobody may be watching the calls of this thread, and no tape. `operators` becomes how many the
/// program stood for, 0 for parts, which have been dispatched.
Tensors gradient_of(const Grad& grad, std::uint64_t& operators);

}  // namespace groove::eager
