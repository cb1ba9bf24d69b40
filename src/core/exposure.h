// How long foreign code may look at memory that Groove gave it a pointer to: as long as there is the
// storage, whatever Groove has written since. A tracer keeps what such memory held when it was read.
// That costs more than it gives for large ones, which are taken to be Groove's own again once Groove
// has written them as a whole, as an optimizer does.
#pragma once

#include "src/core/tensor_impl.h"

namespace groove {

inline constexpr std::size_t kSnapshotLimit = 16 << 20;  // bytes

/// Groove has written (at least) this tensor.
inline void end_exposure(TensorImpl& impl) {
  if (impl.storage->bytes > kSnapshotLimit) note_whole_write(impl);
}

}  // namespace groove
