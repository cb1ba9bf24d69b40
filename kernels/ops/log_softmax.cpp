// log_softmax: x - max - log(sum(exp(x - max))).
#include <cmath>

#include "kernels/ops/softmax.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "log_softmax",
    .kind = OpKind::kComposite,
    .attributes = {{"dim", AttrType::kInt}},
    .type = softmax_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          if (s.inputs[0].sizes.empty() || element_count(s.inputs[0].sizes) == 0)
            return Tensors{zeros_like(inputs[0])};
          const std::int64_t dim = s.attr().integer(0);
          const Tensor shifted = inputs[0] - amax(inputs[0], dim, true);
          return Tensors{shifted - log(sum(exp(shifted), dim, true))};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& y = g.output();
          if (type_of(y).sizes.empty()) return Tensors{zeros_like(g.cotangent())};
          const Tensor total = sum(g.cotangent(), g.attr().integer(0), true);
          return Tensors{g.cotangent() - exp(y) * total};
        },
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = softmax_reference(
        [](double x, double maximum, double total) { return x - maximum - std::log(total); }),
    .domain = {-4, 4},
    .dtypes = floating_dtypes(),
    .samples = softmax_samples,
    .tolerance_ulp = 64,  // near 0 the subtraction cancels
});

}  // namespace

Tensor log_softmax(Arg self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  const Attrs attrs = softmax_attrs("log_softmax", *self.tensor, dim);
  if (dtype) return call(op, {self.tensor->to(*dtype, false, false, self.site)}, self.site, attrs);
  return call(op, {*self.tensor}, self.site, attrs);
}
Tensor ReductionMethods::log_softmax(std::int64_t dim, std::optional<ScalarType> dtype,
                                     Site site) const {
  return groove::log_softmax({self(), site}, dim, dtype);
}

}  // namespace groove
