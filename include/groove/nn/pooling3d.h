// Pools over three axes, and adaptive ones for one.
#pragma once

#include "groove/nn/pooling.h"

namespace groove::nn {

using MaxPool3dOptions = MaxPoolOptions<3>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;

namespace functional {

using MaxPool3dFuncOptions = MaxPool3dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;

Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options,
                  Site site = Site::current());
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options,
                  Site site = Site::current());
Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options,
                           Site site = Site::current());
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options,
                           Site site = Site::current());
Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options,
                           Site site = Site::current());
/// With the flat positions (i64) of the elements taken.
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input,
                                                   const MaxPool1dFuncOptions& options,
                                                   Site site = Site::current());
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input,
                                                   const MaxPool3dFuncOptions& options,
                                                   Site site = Site::current());
std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options, Site site = Site::current());
std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options, Site site = Site::current());
std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options, Site site = Site::current());

}  // namespace functional

class MaxPool3dImpl : public Cloneable<MaxPool3dImpl> {
 public:
  MaxPool3dImpl(ExpandingArray<3> kernel_size) : MaxPool3dImpl(MaxPool3dOptions(kernel_size)) {}
  explicit MaxPool3dImpl(const MaxPool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MaxPool3dOptions options;
};
GROOVE_MODULE(MaxPool3d);
extern template class Cloneable<MaxPool3dImpl>;

class AvgPool3dImpl : public Cloneable<AvgPool3dImpl> {
 public:
  AvgPool3dImpl(ExpandingArray<3> kernel_size) : AvgPool3dImpl(AvgPool3dOptions(kernel_size)) {}
  explicit AvgPool3dImpl(const AvgPool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AvgPool3dOptions options;
};
GROOVE_MODULE(AvgPool3d);
extern template class Cloneable<AvgPool3dImpl>;

class AdaptiveAvgPool3dImpl : public Cloneable<AdaptiveAvgPool3dImpl> {
 public:
  AdaptiveAvgPool3dImpl(ExpandingArrayWithOptionalElem<3> output_size)
      : AdaptiveAvgPool3dImpl(AdaptiveAvgPool3dOptions(output_size)) {}
  explicit AdaptiveAvgPool3dImpl(const AdaptiveAvgPool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveAvgPool3dOptions options;
};
GROOVE_MODULE(AdaptiveAvgPool3d);
extern template class Cloneable<AdaptiveAvgPool3dImpl>;

class AdaptiveMaxPool1dImpl : public Cloneable<AdaptiveMaxPool1dImpl> {
 public:
  AdaptiveMaxPool1dImpl(ExpandingArray<1> output_size)
      : AdaptiveMaxPool1dImpl(AdaptiveMaxPool1dOptions(output_size)) {}
  explicit AdaptiveMaxPool1dImpl(const AdaptiveMaxPool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveMaxPool1dOptions options;
};
GROOVE_MODULE(AdaptiveMaxPool1d);
extern template class Cloneable<AdaptiveMaxPool1dImpl>;

class AdaptiveMaxPool3dImpl : public Cloneable<AdaptiveMaxPool3dImpl> {
 public:
  AdaptiveMaxPool3dImpl(ExpandingArrayWithOptionalElem<3> output_size)
      : AdaptiveMaxPool3dImpl(AdaptiveMaxPool3dOptions(output_size)) {}
  explicit AdaptiveMaxPool3dImpl(const AdaptiveMaxPool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  /// With the flat positions (i64) of the elements taken.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AdaptiveMaxPool3dOptions options;
};
GROOVE_MODULE(AdaptiveMaxPool3d);
extern template class Cloneable<AdaptiveMaxPool3dImpl>;

}  // namespace groove::nn
