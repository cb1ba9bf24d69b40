// Kinds of dropout besides dropout(). Each gives self itself when `train` is false or p is 0, and
// makes one draw of the global generator otherwise. Throws groove::Error unless 0 <= p <= 1.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// Whole channels [n, c] of self [N, C, …] are zeroed with probability p, the others divided by
/// 1 - p (Tompson et al. 2015).
Tensor feature_dropout(Arg input, double p, bool train);
/// Elements take the value at which selu saturates with probability p; then all are scaled and
/// moved so that mean 0 and variance 1 stay (Klambauer et al. 2017).
Tensor alpha_dropout(Arg input, double p, bool train);
/// The same for whole channels.
Tensor feature_alpha_dropout(Arg input, double p, bool train);

// In place.
Tensor& dropout_(Arg self, double p, bool train);
Tensor& feature_dropout_(Arg self, double p, bool train);
Tensor& alpha_dropout_(Arg self, double p, bool train);
Tensor& feature_alpha_dropout_(Arg self, double p, bool train);

}  // namespace groove
