// Anomaly mode as the engine asks for it.
#pragma once

#include "autodiff/tape.h"

namespace groove::autodiff {

bool looks_for_nan();
/// Throws groove::Error when a gradient that the node has made holds NaN.
void check_for_nan(const Node& node, ArrayRef<Tensor> gradients);

}  // namespace groove::autodiff
