// What nll_loss and cross_entropy share: classes [N] picked out of scores [N, C], or [N, P] out of
// [N, C, P], some ignored.
#pragma once

#include "groove/ops/creation.h"
#include "groove/ops/losses.h"
#include "groove/ops/views.h"
#include "kernels/ops/class_mask.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

std::vector<AttrField> class_loss_attributes();  // reduction, ignore_index
TypeResult class_loss_type(const Signature& signature);
void check_classes(const Signature& signature, ArrayRef<Tensor> inputs);
std::vector<Sample> class_loss_samples(ScalarType dtype);
/// From the loss of each place.
ReferenceRule class_loss_reference(double (*row_loss)(const double* row, std::int64_t classes,
                                                      std::int64_t target));

/// bool: which of the scores are those of the targets? Nothing is checked.
Tensor target_mask(const Tensor& target, const Type& scores);
/// A number for each class as it goes with such scores.
Tensor by_class(const Tensor& weight, const Tensor& scores);
/// The loss from log-probabilities. Of those that lie in memory anyway only what is picked is read,
/// where there are many; those that are computed here are walked once more while they are near.
enum class Scores : std::uint8_t { kStored, kComputed };
Tensor picked_loss(const Tensor& log_probabilities, const Tensor& target, const AttrReader& attr,
                   Scores scores);
/// What each place's loss weighs in the result, times the cotangent: [N, 1] or [N, 1, P], 0 where
/// it is ignored.
Tensor row_weights(const Grad& g, const Tensor& target);

// Any operands as scores [N, C] or [N, C, P], with targets [N] or [N, P], or of the scores' shape
// where those are probabilities.
struct ClassRows {
  Tensor input, target;
  Shape sizes;  // of the losses without a reduction
};
/// From [N, C, ..] with [N, ..]; [C] and [] are one row.
ClassRows class_rows(const char* op, Arg input, const Tensor& target, bool are_probabilities);

/// The weight of each place's class; 0 where it is ignored.
Tensor target_weights(const ClassRows& rows, const Tensor& weight, std::int64_t ignore_index);
/// Losses without a reduction, each with such a weight.
Tensor weighted_loss(const Tensor& losses, const Tensor& weights, const ClassRows& rows,
                     std::int64_t reduction);

}  // namespace groove
