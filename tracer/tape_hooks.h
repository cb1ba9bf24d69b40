// What the tracer asks of the tape, which lies above it: autodiff registers these functions.
#pragma once

#include <cstdint>

#include "src/core/autograd_meta.h"
#include "src/core/op.h"

namespace groove::tracer {

struct TapeHooks {
  // Gives `to` (a pending impl the user holds) the history of `from` (the result of an eager run).
  void (*move_history)(TensorImpl& from, TensorImpl& to) = nullptr;
  // Does gradient flow into it? Sees a view whose base was changed in place.
  bool (*needs_gradient)(const TensorImpl& impl) = nullptr;
  // Could a backward() from this tensor still do something?
  bool (*has_live_history)(const TensorImpl& impl) = nullptr;
  // Runs the library call of a big word again on these tensors; false when it is not the tape's.
  bool (*run_again)(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs) = nullptr;
  // The history given to results whose tape a compiled backward has used up.
  TapeNodePtr (*make_released_node)() = nullptr;
  std::uint64_t (*sequence)() = nullptr;
  void (*set_sequence)(std::uint64_t next) = nullptr;
};
TapeHooks& tape_hooks();

/// Called by the tape while it records an in-place op: `copy` holds what `original` held before.
void note_copy(const Tensor& original, const Tensor& copy);

}  // namespace groove::tracer
