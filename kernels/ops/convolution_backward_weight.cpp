// convolution_backward_weight: what the weight of a convolution gets from the gradient of its
// output.
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

Tensors gradient(const Grad& g) {
  const ConvolutionAttrs how = convolution_attrs(g.attr());
  Tensors result(2);
  if (g.needs[0]) result[0] = convolution({g.input(1)}, g.cotangent(), how);
  if (g.needs[1])
    result[1] = convolution_backward_data(g.input(0), g.cotangent(), g.input_types[1].sizes, how);
  return result;
}

const Op& op = define_convolution("convolution_backward_weight", "kernel_size",
                                  kernels::ConvolutionForm::kBackwardWeight, gradient);

}  // namespace

Tensor convolution_backward_weight(const Tensor& y, const Tensor& x, IntArrayRef weight_sizes,
                                   const ConvolutionAttrs& how) {
  return call(op, {y, x}, Site::current(), how.attrs(weight_sizes.slice(2, 2)));
}

}  // namespace groove
