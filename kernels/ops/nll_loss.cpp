// nll_loss: minus the log-probability of the target class.
#include "kernels/ops/class_loss.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "nll_loss",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = class_loss_attributes(),
    .type = class_loss_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          return Tensors{picked_loss(inputs[0], inputs[1], s.attr(), Scores::kStored)};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& target = g.input(1);
          const Tensor mask = target_mask(target, g.input_types[0]);
          return Tensors{where(mask, neg(row_weights(g, target)), 0), Tensor()};
        },
    .saves_inputs = 2,
    .autocast = Precision::kFloat,
    .check = check_classes,
    .check_reads = 1,
    .allowed = [](const Signature& s) { return positions_below(s.inputs[0].sizes[1]); },
    .has_inplace = false,
    .reference = class_loss_reference(
        [](const double* row, std::int64_t, std::int64_t target) { return -row[target]; }),
    .domain = {0, 2},
    .dtypes = floating_dtypes(),
    .samples = class_loss_samples,
    .tolerance_ulp = 16,
});

}  // namespace

Tensor nll_loss(Arg input, const Tensor& target, const Tensor& weight, std::int64_t reduction,
                std::int64_t ignore_index) {
  const CallFrame frame(input.site);
  const ClassRows rows = class_rows("nll_loss", input, target, false);
  const SiteScope scope(input.site);
  const std::int64_t own = weight.defined() ? std::int64_t{Reduction::None} : reduction;
  const Tensor loss =
      call(op, {rows.input, rows.target}, input.site, Attrs().add(own).add(ignore_index));
  if (weight.defined())
    return weighted_loss(loss, target_weights(rows, weight, ignore_index), rows, reduction);
  return reduction == Reduction::None ? loss.reshape(rows.sizes) : loss;
}

}  // namespace groove
