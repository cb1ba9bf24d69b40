// Normalisation by the squares of neighbouring channels (Krizhevsky et al. 2012).
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct LocalResponseNormOptions {
  LocalResponseNormOptions(std::int64_t size) : size_(size) {}
  /// How many channels take part.
  GROOVE_ARG(std::int64_t, size);
  GROOVE_ARG(double, alpha) = 1e-4;
  GROOVE_ARG(double, beta) = 0.75;
  GROOVE_ARG(double, k) = 1.0;
};
struct CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(std::int64_t size) : size_(size) {}
  GROOVE_ARG(std::int64_t, size);
  GROOVE_ARG(double, alpha) = 1e-4;
  GROOVE_ARG(double, beta) = 0.75;
  GROOVE_ARG(std::int64_t, k) = 1;
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;
/// input [N, C, L, …] / (k + alpha * mean of the squares of `size` channels around each)^beta,
/// those beyond the first and last counting 0.
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options,
                           Site site = Site::current());

}  // namespace functional

class LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(std::int64_t size)
      : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LocalResponseNormOptions options;
};
GROOVE_MODULE(LocalResponseNorm);
extern template class Cloneable<LocalResponseNormImpl>;

/// The older form, input [N, C, H, W]: the window has 2 floor((size - 1) / 2) + 1 channels, and the
/// first channel stays in the windows of all that follow, as in LibTorch. Gradients are those of
/// this formula.
class CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(std::int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CrossMapLRN2dOptions options;
};
GROOVE_MODULE(CrossMapLRN2d);
extern template class Cloneable<CrossMapLRN2dImpl>;

}  // namespace groove::nn
