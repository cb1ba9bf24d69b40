// FractionalMaxPool2d and FractionalMaxPool3d: maxima of windows at places that are drawn for each
// plane (Graham 2014).
#pragma once

#include <optional>
#include <tuple>

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

template <std::size_t D>
struct FractionalMaxPoolOptions {
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// The result's spatial sizes; either they or their ratio to the input's, between 0 and 1.
  GROOVE_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  GROOVE_ARG(std::optional<ExpandingArrayDouble>, output_ratio) = std::nullopt;
  /// [N, C, D] of numbers in [0, 1); drawn unless given.
  GROOVE_ARG(Tensor, _random_samples) = {};
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {

using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;

Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options,
                             Site site = Site::current());
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
                             Site site = Site::current());
/// With the flat positions (i64) of the elements taken.
std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options,
    Site site = Site::current());
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
    Site site = Site::current());

}  // namespace functional

class FractionalMaxPool2dImpl : public Cloneable<FractionalMaxPool2dImpl> {
 public:
  FractionalMaxPool2dImpl(ExpandingArray<2> kernel_size)
      : FractionalMaxPool2dImpl(FractionalMaxPool2dOptions(kernel_size)) {}
  /// Throws groove::Error unless exactly one of output_size and output_ratio is given.
  explicit FractionalMaxPool2dImpl(FractionalMaxPool2dOptions options);
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  FractionalMaxPool2dOptions options;
};
GROOVE_MODULE(FractionalMaxPool2d);
extern template class Cloneable<FractionalMaxPool2dImpl>;

class FractionalMaxPool3dImpl : public Cloneable<FractionalMaxPool3dImpl> {
 public:
  FractionalMaxPool3dImpl(ExpandingArray<3> kernel_size)
      : FractionalMaxPool3dImpl(FractionalMaxPool3dOptions(kernel_size)) {}
  /// Throws groove::Error unless exactly one of output_size and output_ratio is given.
  explicit FractionalMaxPool3dImpl(FractionalMaxPool3dOptions options);
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  FractionalMaxPool3dOptions options;
};
GROOVE_MODULE(FractionalMaxPool3d);
extern template class Cloneable<FractionalMaxPool3dImpl>;

}  // namespace groove::nn
