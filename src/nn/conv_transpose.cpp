#include "groove/nn/conv_transpose.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/fan_in.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace {

template <std::size_t D, typename Options>
Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias, const Options& how,
           const ExpandingArray<D>& output_padding, Site site) {
  constexpr auto kOperator = D == 1   ? groove::conv_transpose1d
                             : D == 2 ? groove::conv_transpose2d
                                      : groove::conv_transpose3d;
  return kOperator(Arg(x, site), weight, bias, how.stride(), how.padding(), output_padding,
                   how.groups(), how.dilation());
}

bool is_all(IntArrayRef values, std::int64_t value) {
  for (const std::int64_t v : values)
    if (v != value) return false;
  return true;
}

}  // namespace

namespace functional {

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return run<1>(input, weight, options.bias(), options, options.output_padding(), site);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return run<2>(input, weight, options.bias(), options, options.output_padding(), site);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose3dFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return run<3>(input, weight, options.bias(), options, options.output_padding(), site);
}

}  // namespace functional

template <std::size_t D>
ConvTransposeNdImpl<D>::ConvTransposeNdImpl(const ConvTransposeOptions<D>& options_)
    : options(options_) {
  reset();
}

template <std::size_t D>
void ConvTransposeNdImpl<D>::reset() {
  const std::int64_t groups = options.groups();
  GROOVE_CHECK(options.in_channels() > 0 && options.out_channels() > 0 && groups > 0 &&
                   options.in_channels() % groups == 0 && options.out_channels() % groups == 0,
               "ConvTranspose{}d: {} input and {} output channels must be positive multiples of "
               "groups, {}",
               D, options.in_channels(), options.out_channels(), groups);
  std::vector<std::int64_t> sizes = {options.in_channels(), options.out_channels() / groups};
  sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
  weight = register_parameter("weight", groove::empty(sizes));
  bias = options.bias() ? register_parameter("bias", empty({options.out_channels()}))
                        : register_parameter("bias", Tensor(), false);
  reset_parameters();
}

template <std::size_t D>
void ConvTransposeNdImpl<D>::reset_parameters() {
  reset_by_fan_in(weight, bias);
}

template <std::size_t D>
Tensor ConvTransposeNdImpl<D>::convolve(const Tensor& input, std::optional<IntArrayRef> output_size,
                                        Site site) {
  const groove::detail::CallScope scope(site);
  GROOVE_CHECK(options.padding_mode().is_zeros(),
               "ConvTranspose{}d: padding_mode is {}; only kZeros is there", D,
               options.padding_mode().mode().name());
  ExpandingArray<D> extra = options.output_padding();
  if (output_size) {
    const IntArrayRef wanted = *output_size;
    const auto rank = static_cast<std::size_t>(input.dim());
    GROOVE_CHECK(rank >= D && (wanted.size() == D || wanted.size() == rank),
                 "ConvTranspose{}d: output_size {} must hold {} or {} numbers", D,
                 to_string(wanted), D, rank);
    for (std::size_t axis = 0; axis < D; ++axis) {
      const std::int64_t stride = (*options.stride())[axis];
      const std::int64_t least =
          (input.size(static_cast<std::int64_t>(rank - D + axis)) - 1) * stride -
          2 * (*options.padding())[axis] +
          (*options.dilation())[axis] * ((*options.kernel_size())[axis] - 1) + 1;
      const std::int64_t size = wanted[wanted.size() - D + axis];
      GROOVE_CHECK(least <= size && size < least + stride,
                   "ConvTranspose{}d: output_size {} asks for {} on axis {}; an input of {} can "
                   "give {} to {}",
                   D, to_string(wanted), size, axis, to_string(input.sizes()), least,
                   least + stride - 1);
      (*extra)[axis] = size - least;
    }
  }
  return run<D>(input, weight, bias, options, extra, site);
}

template <std::size_t D>
void ConvTransposeNdImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ConvTranspose" << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride();
  if (!is_all(options.padding(), 0)) stream << ", padding=" << options.padding();
  if (!is_all(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  if (!is_all(options.output_padding(), 0))
    stream << ", output_padding=" << options.output_padding();
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=" << text(false);
  if (!options.padding_mode().is_zeros())
    stream << ", padding_mode=" << enumerator(options.padding_mode().mode().name());
  stream << ")";
}

template class ConvTransposeNdImpl<1>;
template class ConvTransposeNdImpl<2>;
template class ConvTransposeNdImpl<3>;

template class Cloneable<ConvTranspose1dImpl, ConvTransposeNdImpl<1>>;
template class Cloneable<ConvTranspose2dImpl, ConvTransposeNdImpl<2>>;
template class Cloneable<ConvTranspose3dImpl, ConvTransposeNdImpl<3>>;

}  // namespace groove::nn
