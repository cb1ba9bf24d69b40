// State of the process that changes what later ops mean, for the words of the tracer.
#pragma once

#include <cstdint>

namespace groove {

/// Moves whenever set_default_dtype() is called.
std::uint32_t default_dtype_epoch();

}  // namespace groove
