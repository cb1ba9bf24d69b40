// convolution_backward_weight: what the weight of a convolution gets from the gradient of its
// output.
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

constexpr auto kForm = kernels::ConvolutionForm::kBackwardWeight;

const Op& op = define({
    .name = "convolution_backward_weight",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .attributes = convolution_attributes("kernel_size"),
    .type = [](const Signature& s) { return convolution_type(kForm, s); },
    .lowering = convolution_lowering(kForm),
    .gradient =
        [](const Grad& g) {
          const ConvolutionAttrs how = convolution_attrs(g.attr());
          Tensors result(2);
          if (g.needs[0]) result[0] = convolution({g.input(1)}, g.cotangent(), how);
          if (g.needs[1])
            result[1] =
                convolution_backward_data(g.input(0), g.cotangent(), g.input_types[1].sizes, how);
          return result;
        },
    .saves_inputs = 3,
    .has_inplace = false,
    .reference = convolution_reference(kForm),
    .domain = {-1, 1},
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return convolution_samples(kForm, dtype); },
    .tolerance_ulp = 2000,  // of sums that may cancel
});

}  // namespace

Tensor convolution_backward_weight(const Tensor& y, const Tensor& x, IntArrayRef weight_sizes,
                                   const ConvolutionAttrs& how) {
  return call(op, {y, x}, Site::current(), how.attrs(weight_sizes.slice(2, 2)));
}

}  // namespace groove
