// Conv1d, Conv2d and Conv3d.
#pragma once

#include <string_view>

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove {

namespace enumtype {
struct kValid {};
struct kSame {};
struct kZeros {};
}  // namespace enumtype
inline constexpr enumtype::kValid kValid{};
inline constexpr enumtype::kSame kSame{};
inline constexpr enumtype::kZeros kZeros{};

namespace nn {

// Numbers, kValid (none) or kSame (the result has the input's size; needs stride 1).
template <std::size_t D>
class conv_padding_t {
 public:
  conv_padding_t(std::int64_t single) : sizes_(single) {}
  conv_padding_t(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  template <typename Sizes,
            typename = std::enable_if_t<std::is_convertible_v<const Sizes&, ExpandingArray<D>> &&
                                        !std::is_integral_v<Sizes>>>
  conv_padding_t(const Sizes& sizes) : sizes_(sizes) {}
  conv_padding_t(enumtype::kValid) : sizes_(0), is_valid_(true) {}
  conv_padding_t(enumtype::kSame) : sizes_(0), is_same_(true) {}
  bool is_same() const { return is_same_; }
  bool is_valid() const { return is_valid_; }
  const ExpandingArray<D>& sizes() const { return sizes_; }

 private:
  ExpandingArray<D> sizes_;
  bool is_same_ = false, is_valid_ = false;
};

class conv_padding_mode_t {
 public:
  constexpr conv_padding_mode_t(enumtype::kZeros) : mode_(kConstant) {}
  constexpr conv_padding_mode_t(enumtype::kReflect) : mode_(kReflect) {}
  constexpr conv_padding_mode_t(enumtype::kReplicate) : mode_(kReplicate) {}
  constexpr conv_padding_mode_t(enumtype::kCircular) : mode_(kCircular) {}
  constexpr functional::pad_mode_t mode() const { return mode_; }
  constexpr bool is_zeros() const { return std::string_view(mode_.name()) == "constant"; }

 private:
  functional::pad_mode_t mode_;
};

template <std::size_t D>
struct ConvOptions {
  ConvOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  GROOVE_ARG(std::int64_t, in_channels);
  GROOVE_ARG(std::int64_t, out_channels);
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  GROOVE_ARG(ExpandingArray<D>, stride) = 1;
  GROOVE_ARG(conv_padding_t<D>, padding) = 0;
  GROOVE_ARG(ExpandingArray<D>, dilation) = 1;
  GROOVE_ARG(std::int64_t, groups) = 1;
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

namespace functional {

template <std::size_t D>
struct ConvFuncOptions {
  GROOVE_ARG(Tensor, bias) = {};
  GROOVE_ARG(ExpandingArray<D>, stride) = 1;
  GROOVE_ARG(conv_padding_t<D>, padding) = 0;
  GROOVE_ARG(ExpandingArray<D>, dilation) = 1;
  GROOVE_ARG(std::int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// input [N, C, L], weight [O, C / groups, K] -> [N, O, L']
Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {},
              Site site = Site::current());
/// input [N, C, H, W], weight [O, C / groups, KH, KW] -> [N, O, H', W']
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {},
              Site site = Site::current());
/// input [N, C, D, H, W], weight [O, C / groups, KD, KH, KW] -> [N, O, D', H', W']
Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {},
              Site site = Site::current());

}  // namespace functional

/// weight [O, C / groups, kernel…] and bias [O], initially uniform within 1 / sqrt(fan in).
template <std::size_t D>
class ConvNdImpl : public detail::Resettable {
 public:
  explicit ConvNdImpl(const ConvOptions<D>& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  ConvOptions<D> options;
  Tensor weight, bias;

 protected:
  Tensor convolve(const Tensor& input, Site site);
};
extern template class ConvNdImpl<1>;
extern template class ConvNdImpl<2>;
extern template class ConvNdImpl<3>;

class Conv1dImpl : public Cloneable<Conv1dImpl, ConvNdImpl<1>> {
 public:
  Conv1dImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<1> kernel_size)
      : Conv1dImpl(Conv1dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv1dImpl(const Conv1dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, Site site = Site::current()) { return convolve(input, site); }
};
GROOVE_MODULE(Conv1d);
extern template class Cloneable<Conv1dImpl, ConvNdImpl<1>>;

class Conv2dImpl : public Cloneable<Conv2dImpl, ConvNdImpl<2>> {
 public:
  Conv2dImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<2> kernel_size)
      : Conv2dImpl(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv2dImpl(const Conv2dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, Site site = Site::current()) { return convolve(input, site); }
};
GROOVE_MODULE(Conv2d);
extern template class Cloneable<Conv2dImpl, ConvNdImpl<2>>;

class Conv3dImpl : public Cloneable<Conv3dImpl, ConvNdImpl<3>> {
 public:
  Conv3dImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<3> kernel_size)
      : Conv3dImpl(Conv3dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv3dImpl(const Conv3dOptions& options) : Cloneable(options) {}
  Tensor forward(const Tensor& input, Site site = Site::current()) { return convolve(input, site); }
};
GROOVE_MODULE(Conv3d);
extern template class Cloneable<Conv3dImpl, ConvNdImpl<3>>;

}  // namespace nn
}  // namespace groove
