// Tensors [N, C, …] seen channel by channel.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

/// A vector [C] as [1, C, 1, …] of so many dimensions.
Tensor as_channels(const Tensor& vector, std::size_t rank);
/// The sum over all axes but 1, kept as [1, C, 1, …]: first over each plane, then over the images.
/// Both orders vectorise, which that of all these axes at once does not.
Tensor channel_sum(const Tensor& x);
/// x plus bias [C] along axis 1, differentiable.
Tensor add_channels(Arg x, const Tensor& bias);
/// x times weight [C] plus bias [C] along axis 1, differentiable.
Tensor scale_channels(Arg x, const Tensor& weight, const Tensor& bias);

}  // namespace groove
