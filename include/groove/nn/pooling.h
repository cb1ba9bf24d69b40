// Pools over the last one or two axes; pooling3d.h has the others.
#pragma once

#include <optional>
#include <tuple>

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

template <std::size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// That of the kernel unless given.
  GROOVE_ARG(ExpandingArray<D>, stride);
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
  GROOVE_ARG(ExpandingArray<D>, dilation) = 1;
  GROOVE_ARG(bool, ceil_mode) = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;

template <std::size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// That of the kernel unless given.
  GROOVE_ARG(ExpandingArray<D>, stride);
  GROOVE_ARG(ExpandingArray<D>, padding) = 0;
  GROOVE_ARG(bool, ceil_mode) = false;
  GROOVE_ARG(bool, count_include_pad) = true;
  /// Two and three dimensions only.
  GROOVE_ARG(std::optional<std::int64_t>, divisor_override) = std::nullopt;
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;

template <typename Size>
struct AdaptivePoolOptions {
  AdaptivePoolOptions(Size output_size) : output_size_(output_size) {}
  GROOVE_ARG(Size, output_size);
};
template <typename Size>
using AdaptiveAvgPoolOptions = AdaptivePoolOptions<Size>;
template <typename Size>
using AdaptiveMaxPoolOptions = AdaptivePoolOptions<Size>;
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;

namespace functional {

using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;

Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options,
                  Site site = Site::current());
Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options,
                  Site site = Site::current());
/// With the flat positions (i64) of the elements taken.
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                   const MaxPool2dFuncOptions& options,
                                                   Site site = Site::current());
Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options,
                  Site site = Site::current());
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options,
                  Site site = Site::current());
Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options,
                           Site site = Site::current());
Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options,
                           Site site = Site::current());
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options,
                           Site site = Site::current());

}  // namespace functional

class MaxPool1dImpl : public Cloneable<MaxPool1dImpl> {
 public:
  MaxPool1dImpl(ExpandingArray<1> kernel_size) : MaxPool1dImpl(MaxPool1dOptions(kernel_size)) {}
  explicit MaxPool1dImpl(const MaxPool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxPool1dOptions options;
};
GROOVE_MODULE(MaxPool1d);
extern template class Cloneable<MaxPool1dImpl>;

class MaxPool2dImpl : public Cloneable<MaxPool2dImpl> {
 public:
  MaxPool2dImpl(ExpandingArray<2> kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxPool2dOptions options;
};
GROOVE_MODULE(MaxPool2d);
extern template class Cloneable<MaxPool2dImpl>;

class AvgPool1dImpl : public Cloneable<AvgPool1dImpl> {
 public:
  AvgPool1dImpl(ExpandingArray<1> kernel_size) : AvgPool1dImpl(AvgPool1dOptions(kernel_size)) {}
  explicit AvgPool1dImpl(const AvgPool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AvgPool1dOptions options;
};
GROOVE_MODULE(AvgPool1d);
extern template class Cloneable<AvgPool1dImpl>;

class AvgPool2dImpl : public Cloneable<AvgPool2dImpl> {
 public:
  AvgPool2dImpl(ExpandingArray<2> kernel_size) : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AvgPool2dOptions options;
};
GROOVE_MODULE(AvgPool2d);
extern template class Cloneable<AvgPool2dImpl>;

class AdaptiveAvgPool1dImpl : public Cloneable<AdaptiveAvgPool1dImpl> {
 public:
  AdaptiveAvgPool1dImpl(ExpandingArray<1> output_size)
      : AdaptiveAvgPool1dImpl(AdaptiveAvgPool1dOptions(output_size)) {}
  explicit AdaptiveAvgPool1dImpl(const AdaptiveAvgPool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveAvgPool1dOptions options;
};
GROOVE_MODULE(AdaptiveAvgPool1d);
extern template class Cloneable<AdaptiveAvgPool1dImpl>;

class AdaptiveAvgPool2dImpl : public Cloneable<AdaptiveAvgPool2dImpl> {
 public:
  AdaptiveAvgPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size)
      : AdaptiveAvgPool2dImpl(AdaptiveAvgPool2dOptions(output_size)) {}
  explicit AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveAvgPool2dOptions options;
};
GROOVE_MODULE(AdaptiveAvgPool2d);
extern template class Cloneable<AdaptiveAvgPool2dImpl>;

class AdaptiveMaxPool2dImpl : public Cloneable<AdaptiveMaxPool2dImpl> {
 public:
  AdaptiveMaxPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size)
      : AdaptiveMaxPool2dImpl(AdaptiveMaxPool2dOptions(output_size)) {}
  explicit AdaptiveMaxPool2dImpl(const AdaptiveMaxPool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveMaxPool2dOptions options;
};
GROOVE_MODULE(AdaptiveMaxPool2d);
extern template class Cloneable<AdaptiveMaxPool2dImpl>;

}  // namespace groove::nn
