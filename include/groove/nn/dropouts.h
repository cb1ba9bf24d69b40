// Dropout of whole channels, and that which goes with SELU; as modules and functions.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
struct AlphaDropoutFuncOptions {
  GROOVE_ARG(double, p) = 0.5;
  GROOVE_ARG(bool, training) = false;
  GROOVE_ARG(bool, inplace) = false;
};
struct FeatureAlphaDropoutFuncOptions {
  GROOVE_ARG(double, p) = 0.5;
  GROOVE_ARG(bool, training) = false;
  GROOVE_ARG(bool, inplace) = false;
};

/// input [N, C, H, W], or [C, H, W]: whole channels are zeroed.
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {},
                 Site site = Site::current());
/// input [N, C, D, H, W], or [C, D, H, W]
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {},
                 Site site = Site::current());
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {},
                     Site site = Site::current());
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {},
                             Site site = Site::current());

}  // namespace functional

class Dropout2dImpl : public Cloneable<Dropout2dImpl> {
 public:
  explicit Dropout2dImpl(double p) : Dropout2dImpl(Dropout2dOptions(p)) {}
  explicit Dropout2dImpl(const Dropout2dOptions& options = {});
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  Dropout2dOptions options;
};
GROOVE_MODULE(Dropout2d);
extern template class Cloneable<Dropout2dImpl>;

class Dropout3dImpl : public Cloneable<Dropout3dImpl> {
 public:
  explicit Dropout3dImpl(double p) : Dropout3dImpl(Dropout3dOptions(p)) {}
  explicit Dropout3dImpl(const Dropout3dOptions& options = {});
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  Dropout3dOptions options;
};
GROOVE_MODULE(Dropout3d);
extern template class Cloneable<Dropout3dImpl>;

class AlphaDropoutImpl : public Cloneable<AlphaDropoutImpl> {
 public:
  explicit AlphaDropoutImpl(double p) : AlphaDropoutImpl(AlphaDropoutOptions(p)) {}
  explicit AlphaDropoutImpl(const AlphaDropoutOptions& options = {});
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  AlphaDropoutOptions options;
};
GROOVE_MODULE(AlphaDropout);
extern template class Cloneable<AlphaDropoutImpl>;

class FeatureAlphaDropoutImpl : public Cloneable<FeatureAlphaDropoutImpl> {
 public:
  explicit FeatureAlphaDropoutImpl(double p)
      : FeatureAlphaDropoutImpl(FeatureAlphaDropoutOptions(p)) {}
  explicit FeatureAlphaDropoutImpl(const FeatureAlphaDropoutOptions& options = {});
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  FeatureAlphaDropoutOptions options;
};
GROOVE_MODULE(FeatureAlphaDropout);
extern template class Cloneable<FeatureAlphaDropoutImpl>;

}  // namespace groove::nn
