// State that the tracer looks at, for its words and for what to expect of a loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "groove/array_ref.h"
#include "src/core/hash.h"

namespace groove {

namespace detail {
inline constinit std::atomic<std::uint32_t> default_dtype_changes{0};
}
/// Moves whenever set_default_dtype() is called.
inline std::uint32_t default_dtype_epoch() {
  return detail::default_dtype_changes.load(std::memory_order_relaxed);
}

/// What has come to a thread's program by no operator: tensors made of its own memory, and results
/// whose shape depends on values.
struct Given {
  std::uint64_t sizes = 0;     // a sum: it grows by the same where the same shapes were given
  std::uint64_t by_value = 0;  // results whose shape depends on values
};
namespace detail {
inline constinit thread_local Given given;
}
inline const Given& given() { return detail::given; }
inline void note_given(IntArrayRef sizes, bool is_by_value) {
  detail::given.sizes += mixed_all(sizes.size(), sizes);
  detail::given.by_value += is_by_value ? 1 : 0;
}

}  // namespace groove
