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
          return Tensors{picked_loss(log_softmax(inputs[0], 1), inputs[1], s.attr())};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& target = g.input(1);
          const Type& type = g.input_types[0];
          const Tensor mask = class_mask(target.unsqueeze(1), type.sizes[1]);
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
  if (weight.defined()) target = target * weight;
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
                   std::int64_t reduction, std::int64_t ignore_index) {
  const Tensor counted = ne(rows.target, ignore_index);
  const Tensor all = neg(sum(weight.defined() ? log_p * weight : log_p, 1));
  const Tensor losses = where(counted, all, 0);
  switch (reduction) {
    case Reduction::None:
      return losses.reshape(rows.sizes);
    case Reduction::Sum:
      return sum(losses);
    default: {
      const Tensor ones_of_rows = counted.to(type_of(log_p).dtype);
      if (!weight.defined()) return sum(losses) / sum(ones_of_rows);
      const Tensor weights = neg(weight).expand(type_of(log_p).sizes);
      return sum(losses) /
             sum(nll_loss(weights, rows.target, Tensor(), Reduction::None, ignore_index));
    }
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
  if (!weight.defined() && label_smoothing == 0) {
    const Tensor loss = call(op, {rows.input, rows.target}, input.site,
                             Attrs().add(reduction).add(ignore_index));
    return reduction == Reduction::None ? loss.reshape(rows.sizes) : loss;
  }
  const Tensor log_p = log_softmax(rows.input, 1);
  const ClassRows log_rows{log_p, rows.target, rows.sizes};
  Tensor hard;
  if (weight.defined()) {
    hard = weighted_loss(log_rows, weight, reduction, ignore_index);
  } else {
    hard = nll_loss(log_p, rows.target, Tensor(), reduction, ignore_index);
    if (reduction == Reduction::None) hard = hard.reshape(rows.sizes);
  }
  if (label_smoothing == 0) return hard;
  const auto classes = static_cast<double>(type_of(log_p).sizes[1]);
  return hard * (1 - label_smoothing) +
         smooth_part(rows, log_p, weight, reduction, ignore_index) * (label_smoothing / classes);
}

}  // namespace groove
