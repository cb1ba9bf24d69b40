// The entries of differentiation, with the checks that come before anything changes.
#pragma once

#include "autodiff/engine.h"

namespace groove::autodiff {

/// One big word: accumulates into leaves (into `inputs` only, unless that is empty).
void backward_word(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
                   bool create_graph, ArrayRef<Tensor> inputs, Site site);

/// Runs what one word of a backward stands for: the first, or with the script at which the last one
/// stopped, a further one. False when the word is none of a backward's.
bool run_part(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
              std::shared_ptr<Script>& script, Tensors* results);

/// The same for words that attach user code to the tape: a gradient hook, a custom function.
bool attach_hook(const Op& op, ArrayRef<Tensor> inputs, TapeNode* code);
/// Hangs a hook on a leaf or takes it off, or undoes that.
void change_leaf_hooks(TensorImpl& leaf, CodeRole role, const TapeNodePtr& code, bool is_undone);
bool attach_function(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs, TapeNode* code);

}  // namespace groove::autodiff
