// LPPool1d, LPPool2d and LPPool3d: power means, the p-th root of each window's sum of p-th powers.
#pragma once

#include "groove/expanding_array.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

template <std::size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  GROOVE_ARG(double, norm_type);
  GROOVE_ARG(ExpandingArray<D>, kernel_size);
  /// That of the kernel unless given.
  GROOVE_ARG(ExpandingArray<D>, stride);
  GROOVE_ARG(bool, ceil_mode) = false;
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

namespace functional {

using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options,
                 Site site = Site::current());
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options,
                 Site site = Site::current());
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options,
                 Site site = Site::current());

}  // namespace functional

class LPPool1dImpl : public Cloneable<LPPool1dImpl> {
 public:
  LPPool1dImpl(double norm_type, ExpandingArray<1> kernel_size)
      : LPPool1dImpl(LPPool1dOptions(norm_type, kernel_size)) {}
  explicit LPPool1dImpl(const LPPool1dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LPPool1dOptions options;
};
GROOVE_MODULE(LPPool1d);
extern template class Cloneable<LPPool1dImpl>;

class LPPool2dImpl : public Cloneable<LPPool2dImpl> {
 public:
  LPPool2dImpl(double norm_type, ExpandingArray<2> kernel_size)
      : LPPool2dImpl(LPPool2dOptions(norm_type, kernel_size)) {}
  explicit LPPool2dImpl(const LPPool2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LPPool2dOptions options;
};
GROOVE_MODULE(LPPool2d);
extern template class Cloneable<LPPool2dImpl>;

class LPPool3dImpl : public Cloneable<LPPool3dImpl> {
 public:
  LPPool3dImpl(double norm_type, ExpandingArray<3> kernel_size)
      : LPPool3dImpl(LPPool3dOptions(norm_type, kernel_size)) {}
  explicit LPPool3dImpl(const LPPool3dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LPPool3dOptions options;
};
GROOVE_MODULE(LPPool3d);
extern template class Cloneable<LPPool3dImpl>;

}  // namespace groove::nn
