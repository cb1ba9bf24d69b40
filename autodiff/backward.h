// The entries of differentiation, with the checks that come before anything changes.
#pragma once

#include <functional>

#include "autodiff/engine.h"
#include "tracer/calls/history.h"

namespace groove::autodiff {

/// One library call: accumulates into leaves (into `inputs` only, unless that is empty).
void record_backward(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
                     bool create_graph, ArrayRef<Tensor> inputs, Site site);

/// Runs what one call of a backward stands for: the first, or with the script at which the last one
/// stopped, a further one. False when the call is none of a backward's.
bool run_part(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
              std::shared_ptr<Script>& script, Tensors* results);

/// The same for calls that attach user code to the tape: a gradient hook, a custom function.
bool attach_hook(const Op& op, ArrayRef<Tensor> inputs, TapeNode* code);
/// Hangs a hook on a leaf or takes it off, or undoes that.
void change_leaf_hooks(TensorImpl& leaf, CodeRole role, const TapeNodePtr& code, bool is_undone);
bool attach_function(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs, TapeNode* code);

// A custom function in a history that outlives a compiled run: its node is that of the run.
class SavedValue;
bool is_custom_function(const TapeNode& node);
tracer::HistoryPlan::Node describe_function(
    const TapeNode& node,
    const std::function<tracer::HistoryPlan::Saved(const SavedValue&)>& place_of);
/// Of any user code: the run is over, and what a function saved is with the history.
void part_with_saved(TapeNode& node);
bool has_changed_saved(const TapeNode& node);
/// Gives it what it saved, unless that is used up, and a place on the tape; without edges.
void place_function(TapeNode& node, const tracer::HistoryPlan::Node& planned,
                    std::uint64_t sequence);
void give_saved(TapeNode& node, const tracer::HistoryPlan::Node& planned, std::size_t place,
                const Tensor& value, std::uint32_t version);

}  // namespace groove::autodiff
