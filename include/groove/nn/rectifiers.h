// Activations that bend at one point: SELU, CELU, RReLU and Threshold as modules and functions.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  GROOVE_ARG(bool, inplace);
};
struct CELUOptions {
  GROOVE_ARG(double, alpha) = 1.0;
  GROOVE_ARG(bool, inplace) = false;
};
struct RReLUOptions {
  GROOVE_ARG(double, lower) = 1.0 / 8;
  GROOVE_ARG(double, upper) = 1.0 / 3;
  GROOVE_ARG(bool, inplace) = false;
};
struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  GROOVE_ARG(double, threshold);
  GROOVE_ARG(double, value);
  GROOVE_ARG(bool, inplace) = false;
};

namespace functional {

using SELUFuncOptions = SELUOptions;
using CELUFuncOptions = CELUOptions;
using ThresholdFuncOptions = ThresholdOptions;
struct RReLUFuncOptions {
  GROOVE_ARG(double, lower) = 1.0 / 8;
  GROOVE_ARG(double, upper) = 1.0 / 3;
  GROOVE_ARG(bool, training) = false;
  GROOVE_ARG(bool, inplace) = false;
};

Tensor selu(Tensor input, const SELUFuncOptions& options = {}, Site site = Site::current());
Tensor celu(Tensor input, const CELUFuncOptions& options = {}, Site site = Site::current());
Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}, Site site = Site::current());
/// input above the threshold, else value
Tensor threshold(Tensor input, const ThresholdFuncOptions& options, Site site = Site::current());

}  // namespace functional

class SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SELUOptions options;
};
GROOVE_MODULE(SELU);
extern template class Cloneable<SELUImpl>;

class CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CELUOptions options;
};
GROOVE_MODULE(CELU);
extern template class Cloneable<CELUImpl>;

class RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  RReLUOptions options;
};
GROOVE_MODULE(RReLU);
extern template class Cloneable<RReLUImpl>;

class ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value)
      : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(const ThresholdOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  ThresholdOptions options;
};
GROOVE_MODULE(Threshold);
extern template class Cloneable<ThresholdImpl>;

}  // namespace groove::nn
