// Softmin, Softmax2d and samples by the Gumbel distribution.
#pragma once

#include <optional>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct SoftminOptions {
  SoftminOptions(std::int64_t dim) : dim_(dim) {}
  GROOVE_ARG(std::int64_t, dim);
};

namespace functional {

struct SoftminFuncOptions {
  SoftminFuncOptions(std::int64_t dim) : dim_(dim) {}
  GROOVE_ARG(std::int64_t, dim);
  GROOVE_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
struct GumbelSoftmaxFuncOptions {
  GROOVE_ARG(double, tau) = 1.0;
  /// One-hot forwards; gradients are those of the soft sample.
  GROOVE_ARG(bool, hard) = false;
  GROOVE_ARG(int, dim) = -1;
};

/// softmax(-input)
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options, Site site = Site::current());
/// softmax((logits + noise) / tau) with noise of the Gumbel distribution (Jang et al. 2017); one
/// draw of the global generator.
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {},
                      Site site = Site::current());

}  // namespace functional

class SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(std::int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}
  explicit SoftminImpl(const SoftminOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SoftminOptions options;
};
GROOVE_MODULE(Softmin);
extern template class Cloneable<SoftminImpl>;

/// Over the channels of [N, C, H, W] or [C, H, W].
class Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
};
GROOVE_MODULE(Softmax2d);
extern template class Cloneable<Softmax2dImpl>;

}  // namespace groove::nn
