// convolution_backward_data: what the input of a convolution gets from the gradient of its output.
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

Tensors gradient(const Grad& g) {
  const ConvolutionAttrs how = convolution_attrs(g.attr());
  Tensors result(2);
  if (g.needs[0]) result[0] = convolution({g.cotangent()}, g.input(1), how);
  if (g.needs[1])
    result[1] = convolution_backward_weight(g.input(0), g.cotangent(), g.input_types[1].sizes, how);
  return result;
}

const Op& op = define_convolution("convolution_backward_data", "input_size",
                                  kernels::ConvolutionForm::kBackwardData, gradient);

}  // namespace

Tensor convolution_backward_data(Arg y, const Tensor& weight, IntArrayRef x_sizes,
                                 const ConvolutionAttrs& how) {
  return call(op, {*y.tensor, weight}, y.site, how.attrs(x_sizes.slice(2, 2)));
}

}  // namespace groove
