// convolution: the product itself, without a bias; conv1d and conv2d add that as an ordinary op,
// so that it fuses with what follows.
#include "kernels/ops/convolution.h"

#include "groove/ops/convolutions.h"
#include "groove/ops/views.h"
#include "kernels/ops/channels.h"

namespace groove {
namespace {

Tensors gradient(const Grad& g) {
  const ConvolutionAttrs how = convolution_attrs(g.attr());
  Tensors result(2);
  if (g.needs[0])
    result[0] = convolution_backward_data(g.cotangent(), g.input(1), g.input_types[0].sizes, how);
  if (g.needs[1])
    result[1] = convolution_backward_weight(g.cotangent(), g.input(0), g.input_types[1].sizes, how);
  return result;
}

const Op& op =
    define_convolution("convolution", nullptr, kernels::ConvolutionForm::kForward, gradient);

struct Spatial {
  const char* name;
  std::size_t axes;
};

Tensor convolve(const Spatial& what, Arg input, const Tensor& weight, const Tensor& bias,
                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                std::int64_t groups) {
  const Site site = input.site;
  const Shape x_sizes = checked(what.name, *input.tensor).geometry.sizes;
  const Shape w_sizes = checked(what.name, weight).geometry.sizes;
  const std::size_t rank = what.axes + 2;
  GROOVE_CHECK((x_sizes.size() == rank || x_sizes.size() == rank - 1) && w_sizes.size() == rank,
               "{}: input {} must have {} dimensions (one fewer for a single image), weight {} "
               "{}",
               what.name, to_string(x_sizes), rank, to_string(w_sizes), rank);
  ConvolutionAttrs how{spatial(what.name, "stride", stride, what.axes),
                       spatial(what.name, "padding", padding, what.axes),
                       spatial(what.name, "dilation", dilation, what.axes), groups};
  const bool is_single = x_sizes.size() == rank - 1;
  Tensor x = *input.tensor, w = weight;
  if (is_single) x = x.unsqueeze(0, site);
  if (what.axes == 1) {
    x = x.unsqueeze(2, site);
    w = w.unsqueeze(2, site);
    how.stride.insert(0, 1);
    how.padding.insert(0, 0);
    how.dilation.insert(0, 1);
  }
  if (bias.defined()) {
    const Shape& sizes = bias.impl()->geometry.sizes;
    GROOVE_CHECK(sizes.size() == 1 && sizes[0] == w_sizes[0],
                 "{}: bias {} does not fit weight {}: it must be [{}]", what.name, to_string(sizes),
                 to_string(w_sizes), w_sizes[0]);
  }
  Tensor y = convolution({x, site}, w, how);
  if (what.axes == 1) y = squeeze({y, site}, 2);
  if (bias.defined()) y = add_channels({y, site}, bias);
  return is_single ? squeeze({y, site}, 0) : y;
}

}  // namespace

Tensor convolution(Arg x, const Tensor& weight, const ConvolutionAttrs& how) {
  return call(op, {*x.tensor, weight}, x.site, how.attrs());
}

Tensor conv1d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  const CallFrame frame(input.site);
  return convolve({"conv1d", 1}, input, weight, bias, stride, padding, dilation, groups);
}
Tensor conv2d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  const CallFrame frame(input.site);
  return convolve({"conv2d", 2}, input, weight, bias, stride, padding, dilation, groups);
}

}  // namespace groove
