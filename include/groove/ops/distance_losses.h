// Distances between vectors, and losses over pairs, margins and sequences. `reduction` is None,
// Mean or Sum (losses.h); floating inputs; shapes or options that do not fit throw groove::Error.
#pragma once

#include "groove/ops/losses.h"

namespace groove {

/// The norm of order p of x1 - x2 + eps along the last axis; the operands broadcast.
Tensor pairwise_distance(Arg x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
/// x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the operands broadcast.
Tensor cosine_similarity(Arg x1, const Tensor& x2, std::int64_t dim = 1, double eps = 1e-8);

/// input1, input2 [N, D] and target [N], or [D], [D] and []: 1 - cos where the target is 1,
/// max(0, cos - margin) where it is -1.
Tensor cosine_embedding_loss(Arg input1, const Tensor& input2, const Tensor& target,
                             double margin = 0, std::int64_t reduction = Reduction::Mean);
/// self where target is 1, max(0, margin - self) where it is -1 (and both, added, elsewhere).
Tensor hinge_embedding_loss(Arg self, const Tensor& target, double margin = 1,
                            std::int64_t reduction = Reduction::Mean);
/// max(0, -target * (input1 - input2) + margin), broadcast.
Tensor margin_ranking_loss(Arg input1, const Tensor& input2, const Tensor& target,
                           double margin = 0, std::int64_t reduction = Reduction::Mean);
/// self [N, C] (or [C]), target [N, C] of classes (i64), of which those before the first -1 count:
/// max(0, 1 - self[t] + self[c]) summed over targets t and other classes c, divided by C.
Tensor multilabel_margin_loss(Arg self, const Tensor& target,
                              std::int64_t reduction = Reduction::Mean);
/// self [N, C] (or [C]), target [N] (or []) of classes (i64), weight [C] or undefined:
/// weight[t] max(0, margin - self[t] + self[c])^p summed over classes c other than t, divided by
/// C; p is 1 or 2.
Tensor multi_margin_loss(Arg self, const Tensor& target, Scalar p = 1, Scalar margin = 1,
                         const Tensor& weight = Tensor(), std::int64_t reduction = Reduction::Mean);
/// log(1 + exp(-target * self)), broadcast, without overflow.
Tensor soft_margin_loss(Arg self, const Tensor& target, std::int64_t reduction = Reduction::Mean);
/// max(0, d(anchor, positive) - d(anchor, negative) + margin), d being pairwise_distance of order
/// p; with `swap` the second distance is at most d(positive, negative) (Balntas et al. 2016).
Tensor triplet_margin_loss(Arg anchor, const Tensor& positive, const Tensor& negative,
                           double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                           std::int64_t reduction = Reduction::Mean);
/// exp(input) - target * input, or input - target * log(input + eps) without log_input; with
/// `full` Stirling's formula for log(target!) is added where target > 1.
Tensor poisson_nll_loss(Arg input, const Tensor& target, bool log_input, bool full, double eps,
                        std::int64_t reduction);

/// Connectionist temporal classification (Graves et al. 2006): the negative logarithm of the
/// probability of each target sequence over all alignments. log_probs [T, N, C] (or [T, C]),
/// targets [N, S] padded or all in one row [sum of target_lengths] of classes other than blank,
/// lengths [N] (or one number). The mean is that of losses divided by their target's length.
/// zero_infinity: sequences that no alignment gives count 0.
Tensor ctc_loss(Arg log_probs, const Tensor& targets, IntArrayRef input_lengths,
                IntArrayRef target_lengths, std::int64_t blank = 0,
                std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);
/// Waits for target_lengths where targets are in one row.
Tensor ctc_loss(Arg log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank = 0,
                std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);

}  // namespace groove
