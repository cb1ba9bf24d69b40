// conv_transpose1d and conv_transpose2d: each element of the input adds its multiple of the kernel
// to the result, which is what a convolution's input gets from the gradient of its output.
#include <algorithm>

#include "groove/ops/convolutions.h"
#include "groove/ops/views.h"
#include "kernels/ops/channels.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

struct Transposed {
  const char* name;
  std::size_t axes;
  ConvolutionAttrs how;
  Shape output_padding;
};

// Of a result without padding, which a padding cuts off on both sides.
std::int64_t whole_size(const Transposed& what, std::size_t axis, std::int64_t in,
                        std::int64_t kernel) {
  return (in - 1) * what.how.stride[axis] + what.how.dilation[axis] * (kernel - 1) + 1;
}

void check(const Transposed& what, const Shape& x, const Shape& weight, const Tensor& bias) {
  const std::size_t rank = what.axes + 2;
  const ConvolutionAttrs& how = what.how;
  GROOVE_CHECK((x.size() == rank || x.size() == rank - 1) && weight.size() == rank,
               "{}: input {} must have {} dimensions (one fewer for a single image), weight {} {}",
               what.name, to_string(x), rank, to_string(weight), rank);
  const std::int64_t channels = x[x.size() - rank + 1];
  GROOVE_CHECK(how.groups > 0 && weight[0] == channels && channels % how.groups == 0,
               "{}: weight {} with {} groups expects {} input channels, a multiple of the groups; "
               "the input is {}",
               what.name, to_string(weight), how.groups, weight[0], to_string(x));
  for (std::size_t axis = 0; axis < what.axes; ++axis) {
    const std::int64_t extra = what.output_padding[axis];
    GROOVE_CHECK(how.stride[axis] > 0 && how.dilation[axis] > 0 && how.padding[axis] >= 0,
                 "{}: stride {} and dilation {} must be positive, padding {} not negative",
                 what.name, to_string(how.stride), to_string(how.dilation), to_string(how.padding));
    GROOVE_CHECK(extra >= 0 && extra < std::max(how.stride[axis], how.dilation[axis]),
                 "{}: output_padding {} must be smaller than stride {} or dilation {}", what.name,
                 to_string(what.output_padding), to_string(how.stride), to_string(how.dilation));
    const std::int64_t in = x[x.size() - what.axes + axis], kernel = weight[2 + axis];
    const std::int64_t out = whole_size(what, axis, in, kernel) - 2 * how.padding[axis] + extra;
    GROOVE_CHECK(in > 0 && kernel > 0 && out > 0,
                 "{}: input {} and weight {} with padding {} leave a result of {} on axis {}",
                 what.name, to_string(x), to_string(weight), to_string(how.padding), out, axis);
  }
  if (!bias.defined()) return;
  const Shape& sizes = bias.impl()->geometry.sizes;
  GROOVE_CHECK(sizes.size() == 1 && sizes[0] == weight[1] * how.groups,
               "{}: bias {} does not fit weight {} with {} groups: it must be [{}]", what.name,
               to_string(sizes), to_string(weight), how.groups, weight[1] * how.groups);
}

// Over [N, C, H, W].
Tensor product(Transposed what, const Tensor& x, const Tensor& weight, const Site& site) {
  ConvolutionAttrs& how = what.how;
  // No convolution leaves out a whole step of its input: then the result is cut from the whole one.
  const bool is_cut =
      what.output_padding[0] >= how.stride[0] || what.output_padding[1] >= how.stride[1];
  const Shape& x_sizes = x.impl()->geometry.sizes;
  const Shape& w_sizes = weight.impl()->geometry.sizes;
  Shape sizes = {x_sizes[0], w_sizes[1] * how.groups}, edges;
  for (std::size_t axis = 2; axis-- > 0;) {
    edges.push_back(-how.padding[axis]);
    edges.push_back(what.output_padding[axis] - how.padding[axis]);
  }
  if (is_cut) how.padding = {0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t whole = whole_size(what, axis, x_sizes[2 + axis], w_sizes[2 + axis]);
    sizes.push_back(whole - 2 * how.padding[axis] + (is_cut ? 0 : what.output_padding[axis]));
  }
  const Tensor y = convolution_backward_data({x, site}, weight, sizes, how);
  return is_cut ? pad({y, site}, edges) : y;
}

Tensor conv_transpose(const Transposed& what, Arg input, const Tensor& weight, const Tensor& bias) {
  const Site site = input.site;
  const Shape x_sizes = checked(what.name, *input.tensor).geometry.sizes;
  check(what, x_sizes, checked(what.name, weight).geometry.sizes, bias);
  const bool is_single = x_sizes.size() == what.axes + 1;
  Transposed in_plane = what;
  Tensor x = *input.tensor, w = weight;
  if (is_single) x = x.unsqueeze(0, site);
  if (what.axes == 1) {
    x = x.unsqueeze(2, site);
    w = w.unsqueeze(2, site);
    in_plane.how.stride.insert(0, 1);
    in_plane.how.padding.insert(0, 0);
    in_plane.how.dilation.insert(0, 1);
    in_plane.output_padding.insert(0, 0);
  }
  Tensor y = product(in_plane, x, w, site);
  if (what.axes == 1) y = squeeze({y, site}, 2);
  if (bias.defined()) y = add_channels({y, site}, bias);
  return is_single ? squeeze({y, site}, 0) : y;
}

Transposed transposed(const char* name, std::size_t axes, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef output_padding, std::int64_t groups, IntArrayRef dilation) {
  return {name,
          axes,
          {spatial(name, "stride", stride, axes), spatial(name, "padding", padding, axes),
           spatial(name, "dilation", dilation, axes), groups},
          spatial(name, "output_padding", output_padding, axes)};
}

}  // namespace

Tensor conv_transpose1d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  const CallFrame frame(input.site);
  return conv_transpose(
      transposed("conv_transpose1d", 1, stride, padding, output_padding, groups, dilation), input,
      weight, bias);
}
Tensor conv_transpose2d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  const CallFrame frame(input.site);
  return conv_transpose(
      transposed("conv_transpose2d", 2, stride, padding, output_padding, groups, dilation), input,
      weight, bias);
}

}  // namespace groove
