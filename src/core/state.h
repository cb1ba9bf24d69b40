// State of the process that changes what later ops mean, for the words of the tracer.
#pragma once

#include <atomic>
#include <cstdint>

namespace groove {

namespace detail {
inline constinit std::atomic<std::uint32_t> default_dtype_changes{0};
}
/// Moves whenever set_default_dtype() is called.
inline std::uint32_t default_dtype_epoch() {
  return detail::default_dtype_changes.load(std::memory_order_relaxed);
}

}  // namespace groove
