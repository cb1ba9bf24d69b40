// What nll_loss and cross_entropy share: classes [N] picked out of rows [N, C], some ignored.
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
/// From per-row losses.
ReferenceRule class_loss_reference(double (*row_loss)(const double* row, std::int64_t classes,
                                                      std::int64_t target));

/// The loss from log-probabilities [N, C].
Tensor picked_loss(const Tensor& log_probabilities, const Tensor& target, const AttrReader& attr);
/// What each row's loss weighs in the result, times the cotangent: [N, 1], 0 for ignored rows.
Tensor row_weights(const Grad& g, const Tensor& target);

// Any operands as rows [R, C] with targets [R], or [R, C] where those are probabilities.
struct ClassRows {
  Tensor input, target;
  Shape sizes;  // of the losses without a reduction
};
/// [N, C, ..] with [N, ..]; [C] and [] are one row.
ClassRows class_rows(const char* op, Arg input, const Tensor& target, bool are_probabilities);

/// nll_loss of log-probabilities in rows, with a weight for each class.
Tensor weighted_loss(const ClassRows& rows, const Tensor& weight, std::int64_t reduction,
                     std::int64_t ignore_index);

}  // namespace groove
