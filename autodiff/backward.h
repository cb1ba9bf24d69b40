// The two entries of differentiation, with the checks that come before anything changes.
#pragma once

#include "autodiff/engine.h"

namespace groove::autodiff {

/// One big word: accumulates into leaves (into `inputs` only, unless that is empty).
void backward_word(ArrayRef<Tensor> tensors, ArrayRef<Tensor> gradients, bool retain_graph,
                   bool create_graph, ArrayRef<Tensor> inputs, Site site);

}  // namespace groove::autodiff
