// ConvTranspose1d, ConvTranspose2d and ConvTranspose3d.
#pragma once

#include "groove/nn/convolution.h"

namespace groove::nn {

template <std::size_t D>
struct ConvTransposeOptions {
  ConvTransposeOptions(std::int64_t in_channels, std::int64_t out_channels,
                       ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  GROOVE_ARG(std::int64_t, in_channels);
  GROOVE_ARG(std::int64_t, out_channels);
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  GROOVE_ARG(ExpandingArray<D>, stride) = 1;
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
  GROOVE_ARG(ExpandingArray<D>, output_padding) = 0;
  GROOVE_ARG(std::int64_t, groups) = 1;
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(ExpandingArray<D>, dilation) = 1;
  GROOVE_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

template <std::size_t D>
struct ConvTransposeFuncOptions {
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(ExpandingArray<D>, stride) = 1;
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
  GROOVE_ARG(ExpandingArray<D>, output_padding) = 0;
  GROOVE_ARG(std::int64_t, groups) = 1;
  GROOVE_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

/// input [N, C, L], weight [C, O / groups, K] -> [N, O, L'],
/// L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& options = {},
                        Site site = Site::current());
/// input [N, C, H, W], weight [C, O / groups, KH, KW] -> [N, O, H', W']
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& options = {},
                        Site site = Site::current());
/// input [N, C, D, H, W], weight [C, O / groups, KD, KH, KW] -> [N, O, D', H', W']
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose3dFuncOptions& options = {},
                        Site site = Site::current());

}  // namespace functional

/// weight [C, O / groups, kernel…] and bias [O], initially uniform within
/// 1 / sqrt(O / groups * kernel size).
template <std::size_t D>
class ConvTransposeNdImpl : public detail::Resettable {
 public:
  explicit ConvTransposeNdImpl(const ConvTransposeOptions<D>& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  ConvTransposeOptions<D> options;
  Tensor weight, bias;

 protected:
  /// With an output_size, which may be the sizes of all axes or of the spatial ones, the
  /// output_padding that leads to it; throws groove::Error when none does.
  Tensor convolve(const Tensor& input, std::optional<IntArrayRef> output_size, Site site);
};
extern template class ConvTransposeNdImpl<1>;
extern template class ConvTransposeNdImpl<2>;
extern template class ConvTransposeNdImpl<3>;

class ConvTranspose1dImpl : public Cloneable<ConvTranspose1dImpl, ConvTransposeNdImpl<1>> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  ConvTranspose1dImpl(std::int64_t in_channels, std::int64_t out_channels,
                      ExpandingArray<1> kernel_size)
      : ConvTranspose1dImpl(ConvTranspose1dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose1dImpl(const ConvTranspose1dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, std::optional<IntArrayRef> output_size = std::nullopt,
                 Site site = Site::current()) {
    return convolve(input, output_size, site);
  }
};
GROOVE_MODULE(ConvTranspose1d);
extern template class Cloneable<ConvTranspose1dImpl, ConvTransposeNdImpl<1>>;

class ConvTranspose2dImpl : public Cloneable<ConvTranspose2dImpl, ConvTransposeNdImpl<2>> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  ConvTranspose2dImpl(std::int64_t in_channels, std::int64_t out_channels,
                      ExpandingArray<2> kernel_size)
      : ConvTranspose2dImpl(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose2dImpl(const ConvTranspose2dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, std::optional<IntArrayRef> output_size = std::nullopt,
                 Site site = Site::current()) {
    return convolve(input, output_size, site);
  }
};
GROOVE_MODULE(ConvTranspose2d);
extern template class Cloneable<ConvTranspose2dImpl, ConvTransposeNdImpl<2>>;

class ConvTranspose3dImpl : public Cloneable<ConvTranspose3dImpl, ConvTransposeNdImpl<3>> {
 public:
  using OpensCallScope = void;  // the output_size may be left out
  ConvTranspose3dImpl(std::int64_t in_channels, std::int64_t out_channels,
                      ExpandingArray<3> kernel_size)
      : ConvTranspose3dImpl(ConvTranspose3dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose3dImpl(const ConvTranspose3dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, std::optional<IntArrayRef> output_size = std::nullopt,
                 Site site = Site::current()) {
    return convolve(input, output_size, site);
  }
};
GROOVE_MODULE(ConvTranspose3d);
extern template class Cloneable<ConvTranspose3dImpl, ConvTransposeNdImpl<3>>;

}  // namespace groove::nn
