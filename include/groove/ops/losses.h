// Losses: one number, or one per row with Reduction::None. Floating inputs; shapes or dtypes that
// do not fit throw groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

namespace Reduction {
enum Reduction : std::int64_t { None = 0, Mean = 1, Sum = 2 };
}

/// input [N, C] (or [C]), target [N] (or []) of class indices (i64): -log_softmax(input)[target].
/// Rows whose target is ignore_index count nothing; the mean is over the others.
Tensor cross_entropy_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean,
                          std::int64_t ignore_index = -100);
/// As cross_entropy_loss, over log-probabilities.
Tensor nll_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean,
                std::int64_t ignore_index = -100);
/// (input - target)^2, broadcast.
Tensor mse_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean);

}  // namespace groove
