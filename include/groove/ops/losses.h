// Losses: one number, or one per row with Reduction::None. Floating inputs; shapes or dtypes that
// do not fit throw groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

namespace Reduction {
enum Reduction : std::int64_t { None = 0, Mean = 1, Sum = 2 };
}

/// input [N, C, ..] (or [C]), target [N, ..] (or []) of class indices (i64):
/// -weight[target] log_softmax(input)[target], weight [C] being 1 unless given. Rows whose target
/// is ignore_index count nothing; the mean is over the others, by weight. A floating target of the
/// input's shape holds probabilities, and its mean is over all rows. label_smoothing in [0, 1]
/// mixes the target with the uniform distribution (Szegedy et al. 2016).
Tensor cross_entropy_loss(Arg input, const Tensor& target, const Tensor& weight = Tensor(),
                          std::int64_t reduction = Reduction::Mean,
                          std::int64_t ignore_index = -100, double label_smoothing = 0);
/// As cross_entropy_loss with class indices, over log-probabilities.
Tensor nll_loss(Arg input, const Tensor& target, const Tensor& weight = Tensor(),
                std::int64_t reduction = Reduction::Mean, std::int64_t ignore_index = -100);
/// (input - target)^2, broadcast.
Tensor mse_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean);
/// |input - target|, broadcast.
Tensor l1_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean);
/// d^2 / (2 beta) where d = |input - target| < beta, else d - beta / 2 (Girshick 2015).
Tensor smooth_l1_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean,
                      double beta = 1);
/// delta times smooth_l1_loss with beta = delta (Huber 1964).
Tensor huber_loss(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean,
                  double delta = 1);
/// -weight * (target log(input) + (1 - target) log(1 - input)), logarithms at least -100; input in
/// [0, 1] or NaN (throws otherwise), target of its shape.
Tensor binary_cross_entropy(Arg input, const Tensor& target, const Tensor& weight = Tensor(),
                            std::int64_t reduction = Reduction::Mean);
/// As binary_cross_entropy of sigmoid(input), without overflow; pos_weight multiplies the term of
/// positive targets.
Tensor binary_cross_entropy_with_logits(Arg input, const Tensor& target,
                                        const Tensor& weight = Tensor(),
                                        const Tensor& pos_weight = Tensor(),
                                        std::int64_t reduction = Reduction::Mean);
/// target (log(target) - input) with input and (if log_target) target as log-probabilities.
Tensor kl_div(Arg input, const Tensor& target, std::int64_t reduction = Reduction::Mean,
              bool log_target = false);

}  // namespace groove
