// cross_entropy: nll_loss of log_softmax, one row kernel; its gradient is softmax - one_hot.
#include <algorithm>
#include <cmath>

#include "kernels/ops/class_loss.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "cross_entropy",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = class_loss_attributes(),
    .type = class_loss_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          return Tensors{
              picked_loss(log_softmax(inputs[0], 1), inputs[1], s.attr(), Scores::kComputed)};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& target = g.input(1);
          const Type& type = g.input_types[0];
          const Tensor mask = target_mask(target, type);
          const Tensor difference = softmax(g.input(0), 1) - mask.to(type.dtype);
          return Tensors{difference * row_weights(g, target), Tensor()};
        },
    .saves_inputs = 3,
    .autocast = Precision::kFloat,
    .check = check_classes,
    .check_reads = 1,
    .allowed = [](const Signature& s) { return positions_below(s.inputs[0].sizes[1]); },
    .has_inplace = false,
    .reference =
        class_loss_reference([](const double* row, std::int64_t classes, std::int64_t target) {
          const double maximum = *std::max_element(row, row + classes);
          double total = 0;
          for (std::int64_t c = 0; c < classes; ++c) total += std::exp(row[c] - maximum);
          return std::log(total) + maximum - row[target];
        }),
    .domain = {0, 2},
    .dtypes = floating_dtypes(),
    .samples = class_loss_samples,
    .tolerance_ulp = 64,
});

// Of rows of probabilities; the mean is over all rows.
Tensor against_probabilities(const ClassRows& rows, const Tensor& weight, std::int64_t reduction,
                             double smoothing) {
  const auto classes = static_cast<double>(type_of(rows.input).sizes[1]);
  Tensor target = rows.target;
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / classes;
  if (weight.defined()) target = target * by_class(weight, rows.input);
  const Tensor losses = neg(sum(log_softmax(rows.input, 1) * target, 1));
  switch (reduction) {
    case Reduction::None:
      return losses.reshape(rows.sizes);
    case Reduction::Sum:
      return sum(losses);
    default:
      return mean(losses);
  }
}

// The share of the uniform distribution: every class counts in rows that are not ignored.
Tensor smooth_part(const ClassRows& rows, const Tensor& log_p, const Tensor& weight,
                   const Tensor& target_weights, std::int64_t reduction,
                   std::int64_t ignore_index) {
  const Tensor counted = ne(rows.target, ignore_index);
  const Tensor all = neg(sum(weight.defined() ? log_p * by_class(weight, log_p) : log_p, 1));
  const Tensor losses = where(counted, all, 0);
  switch (reduction) {
    case Reduction::None:
      return losses.reshape(rows.sizes);
    case Reduction::Sum:
      return sum(losses);
    default:
      return sum(losses) /
             sum(weight.defined() ? target_weights : counted.to(type_of(log_p).dtype));
  }
}

}  // namespace

Tensor cross_entropy_loss(Arg input, const Tensor& target, const Tensor& weight,
                          std::int64_t reduction, std::int64_t ignore_index,
                          double label_smoothing) {
  const CallFrame frame(input.site);
  const char* name = "cross_entropy";
  GROOVE_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
               "{}: label_smoothing {} is not in [0, 1]", name, label_smoothing);
  const bool are_probabilities = is_floating(checked(name, target).dtype);
  const ClassRows rows = class_rows(name, input, target, are_probabilities);
  const SiteScope scope(input.site);
  if (are_probabilities) return against_probabilities(rows, weight, reduction, label_smoothing);
  const bool is_smooth = label_smoothing > 0;
  const std::int64_t own = weight.defined() ? std::int64_t{Reduction::None} : reduction;
  const Tensor log_p = is_smooth ? log_softmax(rows.input, 1) : Tensor();
  Tensor hard = is_smooth ? nll_loss(log_p, rows.target, Tensor(), own, ignore_index)
                          : call(op, {rows.input, rows.target}, input.site,
                                 Attrs().add(own).add(ignore_index));
  Tensor weights;  // after the targets have been looked at
  if (weight.defined()) {
    weights = target_weights(rows, weight, ignore_index);
    hard = weighted_loss(hard, weights, rows, reduction);
  } else if (reduction == Reduction::None) {
    hard = hard.reshape(rows.sizes);
  }
  if (!is_smooth) return hard;
  const auto classes = static_cast<double>(type_of(log_p).sizes[1]);
  return hard * (1 - label_smoothing) +
         smooth_part(rows, log_p, weight, weights, reduction, ignore_index) *
             (label_smoothing / classes);
}

}  // namespace groove
