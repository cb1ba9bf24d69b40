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
    .check = check_classes,
    .has_inplace = false,
    .reference =
        class_loss_reference([](const double* row, std::int64_t classes, std::int64_t target) {
          const double maximum = *std::max_element(row, row + classes);
          double total = 0;
          for (std::int64_t c = 0; c < classes; ++c) total += std::exp(row[c] - maximum);
          return std::log(total) + maximum - row[target];
        }),
    .domain = {0, 2},
    .dtypes = {kFloat, kDouble},
    .samples = class_loss_samples,
    .tolerance_ulp = 64,
});

}  // namespace

Tensor cross_entropy_loss(Arg input, const Tensor& target, std::int64_t reduction,
                          std::int64_t ignore_index) {
  return class_loss(op, input, target, reduction, ignore_index);
}

}  // namespace groove
