// The layers and losses that are there.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/functional.h"
#include "groove/nn/holder.h"

namespace groove::nn {

/// y = x W^T + b with W [out, in], both initially uniform within 1 / sqrt(in).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(std::int64_t in_features, std::int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LinearOptions options;
  Tensor weight, bias;
};
GROOVE_MODULE(Linear);
extern template class Cloneable<LinearImpl>;

class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  template <typename... Ignored>
  explicit IdentityImpl(Ignored&&...) {}
  IdentityImpl(const IdentityImpl&) = default;
  void reset() override {}
  Tensor forward(const Tensor& input) { return input; }
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Identity);
extern template class Cloneable<IdentityImpl>;

class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  FlattenOptions options;
};
GROOVE_MODULE(Flatten);
extern template class Cloneable<FlattenImpl>;

class ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  ReLUOptions options;
};
GROOVE_MODULE(ReLU);
extern template class Cloneable<ReLUImpl>;

class SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Sigmoid);
extern template class Cloneable<SigmoidImpl>;

class TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Tanh);
extern template class Cloneable<TanhImpl>;

class SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(std::int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(const SoftmaxOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SoftmaxOptions options;
};
GROOVE_MODULE(Softmax);
extern template class Cloneable<SoftmaxImpl>;

class LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(std::int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LogSoftmaxOptions options;
};
GROOVE_MODULE(LogSoftmax);
extern template class Cloneable<LogSoftmaxImpl>;

/// In training zeroes each element with probability p and scales the rest by 1 / (1 - p).
class DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  explicit DropoutImpl(const DropoutOptions& options = {});
  void reset() override {}
  Tensor forward(Tensor input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  DropoutOptions options;
};
GROOVE_MODULE(Dropout);
extern template class Cloneable<DropoutImpl>;

class MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(MSELossOptions options = {}) : options(std::move(options)) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MSELossOptions options;
};
GROOVE_MODULE(MSELoss);
extern template class Cloneable<MSELossImpl>;

class CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {})
      : options(std::move(options)) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CrossEntropyLossOptions options;
};
GROOVE_MODULE(CrossEntropyLoss);
extern template class Cloneable<CrossEntropyLossImpl>;

class NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(NLLLossOptions options = {}) : options(std::move(options)) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  NLLLossOptions options;
};
GROOVE_MODULE(NLLLoss);
extern template class Cloneable<NLLLossImpl>;

}  // namespace groove::nn
