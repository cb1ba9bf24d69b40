// What the tracer asks of the tape, which lies above it: autodiff registers these functions.
#pragma once

#include <cstdint>
#include <string>

#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "tracer/calls/history.h"

namespace groove::tracer {

struct TapeHooks {
  // Gives `to` (a pending impl the user holds) the history of `from` (the result of an eager run).
  void (*move_history)(TensorImpl& from, TensorImpl& to) = nullptr;
  // Does gradient flow into it? Sees a view whose base was changed in place.
  bool (*needs_gradient)(const TensorImpl& impl) = nullptr;
  // Runs the library call of a library call again on these tensors; false when it is not the
  // tape's. `script`: where the call stopped that this one goes on from, then where this one stops.
  bool (*run_again)(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs, TapeNode* user_code,
                    std::shared_ptr<Script>& script, std::vector<Tensor>* results) = nullptr;
  // A compiled backward is done with a custom function.
  void (*release)(TapeNode& user_code) = nullptr;
  // A run is over: what a custom function of it saved is with the history that is left, if any.
  void (*part_with_saved)(TapeNode& user_code) = nullptr;
  // Was something that a custom function saved written since?
  bool (*has_changed_saved)(const TapeNode& user_code) = nullptr;
  // Which of the hooks that hang on this leaf it is, or -1; and the other way round.
  std::int32_t (*index_of_hook)(const TensorImpl& leaf, const TapeNode* user_code) = nullptr;
  TapeNodePtr (*hook_at)(const TensorImpl& leaf, std::int32_t index) = nullptr;
  // Does what a call of this role does to the hooks of a leaf, or undoes it.
  void (*change_hooks)(TensorImpl& leaf, CodeRole role, const TapeNodePtr& user_code,
                       bool is_undone) = nullptr;
  // The history that a result has until its run is over.
  TapeNodePtr (*make_released_node)() = nullptr;
  // Gives it the one that it has then when its own is used up. `last`: what this gave last, which
  // serves again when nobody else has it.
  void (*give_used_up)(const UsedUpRun& run, TapeNodePtr& last) = nullptr;
  // What the results of a recording leave on the tape; null (and why) when it cannot be repeated.
  std::shared_ptr<HistoryPlan> (*plan_history)(const HistoryRequest& request,
                                               UsedUpPlanPtr& used_up, std::string& why) = nullptr;
  // Does the history of a tensor lead to what was on the tape before this position?
  bool (*reaches_before)(const TensorImpl& impl, std::uint64_t position) = nullptr;
  // Gives the results of a run the history that the plan says.
  void (*attach_history)(HistoryRun run) = nullptr;
  // Given by the tracer: may a backward of this thread run compiled code now?
  bool (*may_run_compiled)() = nullptr;
  // Notes that `output` is the view op `call` of its input, as the tape does for an eager call that
  // is recorded or not.
  void (*track_view)(const Call& call, Tensor& output, bool with_grad) = nullptr;
  // Derives the history of a view from its base, which was written since (has_stale_history).
  void (*refresh_view)(TensorImpl& view) = nullptr;
  std::uint64_t (*sequence)() = nullptr;
  void (*set_sequence)(std::uint64_t next) = nullptr;
  // Whose tape: of nodes that are recorded now.
  std::uint32_t (*tape)() = nullptr;
  void (*set_tape)(std::uint32_t tape) = nullptr;
};
TapeHooks& tape_hooks();

/// Called by the tape while it records an in-place op: `copy` holds what `original` held before.
void note_copy(const Tensor& original, const Tensor& copy);
/// Called when the program itself has counted a write (mark_dirty).
void note_version(const TensorImpl& impl);

/// Called before the program is told whether a tensor requires a gradient, or is a leaf: a write
/// that waits may change that.
void settle_flags(TensorImpl& impl);

}  // namespace groove::tracer
