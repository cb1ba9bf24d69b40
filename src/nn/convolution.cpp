#include "groove/nn/convolution.h"

#include <cctype>
#include <ostream>
#include <string>

#include "groove/detail/call_scope.h"
#include "groove/nn/functional.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/fan_in.h"
#include "src/nn/printed.h"

namespace groove {

void detail::throw_expanding_array(std::size_t expected, std::size_t actual) {
  throw_error(
      fmt::format("Expected {} values, but instead got {}: one for each axis, or a single number",
                  expected, actual));
}

namespace nn {
namespace {

// Everything but operands, in the form both modules and functions have.
template <std::size_t D>
struct How {
  const ExpandingArray<D>&stride, &dilation;
  std::int64_t groups;
};

Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias, const How<1>& how,
           IntArrayRef padding, Site site) {
  return groove::conv1d(Arg(x, site), weight, bias, how.stride, padding, how.dilation, how.groups);
}
Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias, const How<2>& how,
           IntArrayRef padding, Site site) {
  return groove::conv2d(Arg(x, site), weight, bias, how.stride, padding, how.dilation, how.groups);
}
Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias, const How<3>& how,
           IntArrayRef padding, Site site) {
  return groove::conv3d(Arg(x, site), weight, bias, how.stride, padding, how.dilation, how.groups);
}

template <std::size_t D>
void check_same_padding(const ExpandingArray<D>& stride) {
  for (const std::int64_t each : *stride)
    GROOVE_CHECK(each == 1,
                 "Conv{}d: padding='same' is not supported for strided convolutions; stride is {}, "
                 "it must be 1",
                 D, each);
}

// Elements before and after each axis, from the last axis on, as functional::pad takes them.
template <std::size_t D>
Shape sides(const conv_padding_t<D>& padding, const Tensor& weight, const How<D>& how) {
  Shape result;
  for (std::size_t axis = D; axis-- > 0;) {
    std::int64_t before = (*padding.sizes())[axis], after = before;
    if (padding.is_same()) {
      check_same_padding<D>(how.stride);
      const std::int64_t all =
          (*how.dilation)[axis] * (weight.size(static_cast<std::int64_t>(axis) + 2) - 1);
      before = all / 2;
      after = all - before;
    }
    result.push_back(before);
    result.push_back(after);
  }
  return result;
}

template <std::size_t D>
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const How<D>& how,
                const conv_padding_t<D>& padding, const conv_padding_mode_t& mode, Site site) {
  const Shape both = sides(padding, weight, how);
  bool is_even = true;
  ExpandingArray<D> each = 0;
  for (std::size_t axis = 0; axis < D; ++axis) {
    (*each)[axis] = both[2 * (D - 1 - axis)];
    is_even &= both[2 * (D - 1 - axis)] == both[2 * (D - 1 - axis) + 1];
  }
  if (mode.is_zeros() && is_even) return run(x, weight, bias, how, each, site);
  const Tensor padded = functional::pad(
      x, functional::PadFuncOptions(IntArrayRef(both).vec()).mode(mode.mode()), site);
  return run(padded, weight, bias, how, ExpandingArray<D>(0), site);
}

}  // namespace

namespace functional {

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options,
              Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return convolve<1>(input, weight, options.bias(),
                     {options.stride(), options.dilation(), options.groups()}, options.padding(),
                     kZeros, site);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options,
              Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return convolve<2>(input, weight, options.bias(),
                     {options.stride(), options.dilation(), options.groups()}, options.padding(),
                     kZeros, site);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options,
              Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return convolve<3>(input, weight, options.bias(),
                     {options.stride(), options.dilation(), options.groups()}, options.padding(),
                     kZeros, site);
}

}  // namespace functional

template <std::size_t D>
ConvNdImpl<D>::ConvNdImpl(const ConvOptions<D>& options_) : options(options_) {
  reset();
}

template <std::size_t D>
void ConvNdImpl<D>::reset() {
  const std::int64_t groups = options.groups();
  GROOVE_CHECK(options.in_channels() > 0 && options.out_channels() > 0 && groups > 0 &&
                   options.in_channels() % groups == 0 && options.out_channels() % groups == 0,
               "Conv{}d: {} input and {} output channels must be positive multiples of groups, {}",
               D, options.in_channels(), options.out_channels(), groups);
  if (options.padding().is_same()) check_same_padding<D>(options.stride());
  std::vector<std::int64_t> sizes = {options.out_channels(), options.in_channels() / groups};
  sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
  weight = register_parameter("weight", groove::empty(sizes));
  bias = options.bias() ? register_parameter("bias", empty({options.out_channels()}))
                        : register_parameter("bias", Tensor(), false);
  reset_parameters();
}

template <std::size_t D>
void ConvNdImpl<D>::reset_parameters() {
  reset_by_fan_in(weight, bias);
}

template <std::size_t D>
Tensor ConvNdImpl<D>::convolve(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site);
  return nn::convolve<D>(input, weight, bias,
                         {options.stride(), options.dilation(), options.groups()},
                         options.padding(), options.padding_mode(), site);
}

template <std::size_t D>
void ConvNdImpl<D>::pretty_print(std::ostream& stream) const {
  const auto is = [](IntArrayRef values, std::int64_t value) {
    for (const std::int64_t v : values)
      if (v != value) return false;
    return true;
  };
  stream << "torch::nn::Conv" << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride();
  const conv_padding_t<D>& padding = options.padding();
  if (padding.is_same()) {
    stream << ", padding='same'";
  } else if (padding.is_valid()) {
    stream << ", padding='valid'";
  } else if (!is(padding.sizes(), 0)) {
    stream << ", padding=" << padding.sizes();
  }
  if (!is(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=" << text(false);
  if (!options.padding_mode().is_zeros())
    stream << ", padding_mode=" << enumerator(options.padding_mode().mode().name());
  stream << ")";
}

template class ConvNdImpl<1>;
template class ConvNdImpl<2>;
template class ConvNdImpl<3>;

template class Cloneable<Conv1dImpl, ConvNdImpl<1>>;
template class Cloneable<Conv2dImpl, ConvNdImpl<2>>;
template class Cloneable<Conv3dImpl, ConvNdImpl<3>>;

}  // namespace nn
}  // namespace groove
