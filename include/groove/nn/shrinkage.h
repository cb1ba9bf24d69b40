// Activations that saturate or pull towards 0, as modules and functions.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  GROOVE_ARG(double, lambda);
};
struct SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  GROOVE_ARG(double, lambda);
};

namespace functional {

using HardshrinkFuncOptions = HardshrinkOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;

/// log(sigmoid(input))
Tensor logsigmoid(const Tensor& input, Site site = Site::current());
/// input / (1 + |input|)
Tensor softsign(const Tensor& input, Site site = Site::current());
/// input - tanh(input)
Tensor tanhshrink(const Tensor& input, Site site = Site::current());
/// input, or 0 within [-lambda, lambda]
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {},
                  Site site = Site::current());
/// input moved by lambda towards 0 and no further
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {},
                  Site site = Site::current());

}  // namespace functional

class LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(LogSigmoid);
extern template class Cloneable<LogSigmoidImpl>;

class SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Softsign);
extern template class Cloneable<SoftsignImpl>;

class TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Tanhshrink);
extern template class Cloneable<TanhshrinkImpl>;

class HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  HardshrinkOptions options;
};
GROOVE_MODULE(Hardshrink);
extern template class Cloneable<HardshrinkImpl>;

class SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SoftshrinkOptions options;
};
GROOVE_MODULE(Softshrink);
extern template class Cloneable<SoftshrinkImpl>;

}  // namespace groove::nn
