// conv3d and conv_transpose3d, by convolutions over planes: the steps of the kernel along the depth
// count as channels, so that one convolution sums over all of them.
#include <algorithm>

#include "groove/ops/convolutions.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis_windows.h"
#include "kernels/ops/channels.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

// Everything but the operands, for (depth, height, width).
struct Volume {
  const char* name;
  ConvolutionAttrs how;
  Shape output_padding;  // of a transpose; empty otherwise
};

IntArrayRef in_plane(const Shape& values) { return IntArrayRef(values).slice(1); }

AxisWindows along_depth(const Volume& what, IntArrayRef weight) {
  return {weight[2], what.how.stride[0], what.how.padding[0], what.how.dilation[0]};
}

void check(const Volume& what, IntArrayRef x, IntArrayRef weight, const Tensor& bias) {
  GROOVE_CHECK((x.size() == 5 || x.size() == 4) && weight.size() == 5,
               "{}: input {} must have 5 dimensions (4 for a single volume), weight {} 5",
               what.name, to_string(x), to_string(weight));
  const bool is_transposed = !what.output_padding.empty();
  const ConvolutionAttrs& how = what.how;
  const std::int64_t channels = x[x.size() - 4];
  GROOVE_CHECK(how.groups > 0 && weight[0] % how.groups == 0 &&
                   channels == (is_transposed ? weight[0] : weight[1] * how.groups),
               "{}: input {} has {} channels, which do not fit weight {} with {} groups", what.name,
               to_string(x), channels, to_string(weight), how.groups);
  for (std::size_t i = 0; i < 3; ++i) {
    GROOVE_CHECK(how.stride[i] > 0 && how.dilation[i] > 0 && how.padding[i] >= 0,
                 "{}: stride {} and dilation {} must be positive, padding {} not negative",
                 what.name, to_string(how.stride), to_string(how.dilation), to_string(how.padding));
    const std::int64_t in = x[x.size() - 3 + i], kernel = weight[2 + i];
    const std::int64_t reach = how.dilation[i] * (kernel - 1) + 1;
    std::int64_t out = in + 2 * how.padding[i] - reach + 1;
    if (is_transposed) {
      const std::int64_t extra = what.output_padding[i];
      GROOVE_CHECK(extra >= 0 && extra < std::max(how.stride[i], how.dilation[i]),
                   "{}: output_padding {} must be smaller than stride {} or dilation {}", what.name,
                   to_string(what.output_padding), to_string(how.stride), to_string(how.dilation));
      out = (in - 1) * how.stride[i] - 2 * how.padding[i] + reach + extra;
    }
    GROOVE_CHECK(in > 0 && kernel > 0 && out > 0,
                 "{}: input {} and weight {} with padding {} leave nothing on axis {}", what.name,
                 to_string(x), to_string(weight), to_string(how.padding), i);
  }
  if (!bias.defined()) return;
  const std::int64_t wanted = is_transposed ? weight[1] * how.groups : weight[0];
  GROOVE_CHECK(bias.dim() == 1 && bias.size(0) == wanted,
               "{}: bias {} does not fit weight {}: it must be [{}]", what.name,
               to_string(bias.sizes()), to_string(weight), wanted);
}

// Of volumes [N, C, D, H, W].
Tensor product(const Volume& what, const Tensor& x, const Tensor& weight) {
  const Shape sizes = type_of(x).sizes, w = type_of(weight).sizes;
  const Tensor columns = unfolded(x.reshape({sizes[0], sizes[1], sizes[2], sizes[3] * sizes[4]}), 2,
                                  along_depth(what, w));  // [N, C, KD, D', H * W]
  const std::int64_t depth = columns.size(3);
  const Tensor planes = columns.permute({0, 3, 1, 2, 4})
                            .reshape({sizes[0] * depth, sizes[1] * w[2], sizes[3], sizes[4]});
  const Tensor kernel = weight.reshape({w[0], w[1] * w[2], w[3], w[4]});
  const Tensor y = conv2d(planes, kernel, Tensor(), in_plane(what.how.stride),
                          in_plane(what.how.padding), in_plane(what.how.dilation), what.how.groups);
  return y.reshape({sizes[0], depth, w[0], y.size(2), y.size(3)}).transpose(1, 2);
}

Tensor transposed_product(const Volume& what, const Tensor& x, const Tensor& weight) {
  const Shape sizes = type_of(x).sizes, w = type_of(weight).sizes;
  const Tensor planes =
      x.transpose(1, 2).reshape({sizes[0] * sizes[2], sizes[1], sizes[3], sizes[4]});
  const Tensor kernel = weight.reshape({w[0], w[1] * w[2], w[3], w[4]});
  const Tensor y = conv_transpose2d(planes, kernel, Tensor(), in_plane(what.how.stride),
                                    in_plane(what.how.padding), in_plane(what.output_padding),
                                    what.how.groups, in_plane(what.how.dilation));
  const std::int64_t channels = w[1] * what.how.groups, height = y.size(2), width = y.size(3);
  const Tensor columns =
      y.reshape({sizes[0], sizes[2], channels, w[2], height * width}).permute({0, 2, 3, 1, 4});
  const AxisWindows windows = along_depth(what, w);
  const std::int64_t depth = (sizes[2] - 1) * windows.stride - 2 * windows.padding +
                             windows.dilation * (windows.kernel - 1) + 1 + what.output_padding[0];
  return folded(columns, 2, windows, depth).view({sizes[0], channels, depth, height, width});
}

Tensor convolve(const Volume& what, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Shape sizes = checked(what.name, input).geometry.sizes;
  check(what, sizes, checked(what.name, weight).geometry.sizes, bias);
  const bool is_single = sizes.size() == 4;
  const Tensor x = is_single ? input.unsqueeze(0) : input;
  Tensor y =
      what.output_padding.empty() ? product(what, x, weight) : transposed_product(what, x, weight);
  y = bias.defined() ? add_channels(y, bias) : y.contiguous();
  return is_single ? y.squeeze(0) : y;
}

ConvolutionAttrs attrs(const char* name, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, std::int64_t groups) {
  return {spatial(name, "stride", stride, 3), spatial(name, "padding", padding, 3),
          spatial(name, "dilation", dilation, 3), groups};
}

}  // namespace

Tensor conv3d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  const SiteScope scope(input.site);
  return convolve({"conv3d", attrs("conv3d", stride, padding, dilation, groups), {}}, *input.tensor,
                  weight, bias);
}
Tensor conv_transpose3d(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  const SiteScope scope(input.site);
  const char* name = "conv_transpose3d";
  return convolve({name, attrs(name, stride, padding, dilation, groups),
                   spatial(name, "output_padding", output_padding, 3)},
                  *input.tensor, weight, bias);
}

}  // namespace groove
