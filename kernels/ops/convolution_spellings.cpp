// Convolutions by other spellings: with a padding that has a name, with all arguments of all of
// them, and over [L, N, C].
#include "groove/ops/convolutions.h"
#include "groove/ops/views.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

using Convolution = Tensor (*)(Arg, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef,
                               IntArrayRef, std::int64_t);
using Transposed = Tensor (*)(Arg, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef,
                              IntArrayRef, std::int64_t, IntArrayRef);
constexpr Convolution kConvolutions[] = {conv1d, conv2d, conv3d};
constexpr Transposed kTransposed[] = {conv_transpose1d, conv_transpose2d, conv_transpose3d};
constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};

}  // namespace

Tensor detail::convolve_padded(std::size_t axes, Arg input, const Tensor& weight,
                               const Tensor& bias, IntArrayRef stride, std::string_view padding,
                               IntArrayRef dilation, std::int64_t groups) {
  const char* name = kNames[axes - 1];
  const SiteScope scope(input.site, name);
  const Convolution convolve = kConvolutions[axes - 1];
  GROOVE_CHECK(padding == "same" || padding == "valid",
               "{}: padding \"{}\" is neither \"same\" nor \"valid\"", name, padding);
  if (padding == "valid") return convolve(*input.tensor, weight, bias, stride, 0, dilation, groups);
  const Shape sizes = checked(name, weight).geometry.sizes;
  GROOVE_CHECK(sizes.size() == axes + 2, "{}: weight {} must have {} dimensions", name,
               to_string(sizes), axes + 2);
  for (const std::int64_t step : stride)
    GROOVE_CHECK(step == 1, "{}: padding \"same\" needs a stride of 1; it is {}", name,
                 to_string(stride));
  const Shape spread = spatial(name, "dilation", dilation, axes);
  Shape before, behind;  // behind: what the last sides have more than the first, from the last axis
  bool is_even = true;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t whole = spread[i] * (sizes[2 + i] - 1);
    before.push_back(whole / 2);
    behind.insert(0, whole % 2);
    behind.insert(0, 0);
    is_even = is_even && whole % 2 == 0;
  }
  const Tensor x = is_even ? *input.tensor : constant_pad_nd(*input.tensor, behind);
  return convolve(x, weight, bias, stride, before, dilation, groups);
}

Tensor convolution(Arg input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups) {
  const CallFrame frame(input.site);
  const std::size_t rank = checked("convolution", weight).geometry.sizes.size();
  GROOVE_CHECK(rank >= 3 && rank <= 5,
               "convolution: weight {} must have 3, 4 or 5 dimensions: one, two or three spatial",
               to_string(weight.sizes()));
  if (transposed)
    return kTransposed[rank - 3](input, weight, bias, stride, padding, output_padding, groups,
                                 dilation);
  return kConvolutions[rank - 3](input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv_tbc(Arg self, const Tensor& weight, const Tensor& bias, std::int64_t pad) {
  const SiteScope scope(self.site);
  GROOVE_CHECK(checked("conv_tbc", *self.tensor).geometry.sizes.size() == 3 &&
                   checked("conv_tbc", weight).geometry.sizes.size() == 3 &&
                   checked("conv_tbc", bias).geometry.sizes.size() == 1,
               "conv_tbc: self {}, weight {} and bias {} must be [L, N, C], [K, C, O] and [O]",
               to_string(self.tensor->sizes()), to_string(weight.sizes()), to_string(bias.sizes()));
  return conv1d(self.tensor->permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, pad)
      .permute({2, 0, 1})
      .contiguous();
}

}  // namespace groove
