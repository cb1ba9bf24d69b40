// How Linear, the convolutions and their transposes begin.
#pragma once

#include "groove/tensor.h"

namespace groove::nn {

/// Weight [out, in, …] and bias (may be undefined) uniform within 1 / sqrt(fan in) of 0, as
/// LibTorch does.
void reset_by_fan_in(const Tensor& weight, const Tensor& bias);

}  // namespace groove::nn
