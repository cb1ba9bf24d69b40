// Index tensors: their type rule, their range check and reading them on the host.
#pragma once

#include <cstring>

#include "kernels/ops/rules.h"

namespace groove {

/// Throws unless the dtype is i64 or i32.
void check_index_dtype(const char* op, const Type& index);
/// Throws groove::Error naming value, position and bound unless all are in [0, bound) or equal to
/// `allowed`.
void check_index_range(const char* op, const char* what, const Tensor& index, std::int64_t bound,
                       const std::int64_t* allowed = nullptr);
/// Makes values real that decide what a call does or gives (positions, weights). A trace that made
/// them ends a stage there; where none did, such a read is no reason to cut a loop, unlike item().
inline void read_now(TensorImpl& impl) {
  impl.trace_session != 0 ? host_read(impl) : materialize(impl);
}
/// Element of a contiguous index tensor.
inline std::int64_t index_at(const Tensor& index, std::int64_t position) {
  const void* data = index.impl()->data();
  return index.impl()->dtype == kLong ? static_cast<const std::int64_t*>(data)[position]
                                      : static_cast<const std::int32_t*>(data)[position];
}

}  // namespace groove
