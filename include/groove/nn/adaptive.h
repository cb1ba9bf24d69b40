// AdaptiveLogSoftmaxWithLoss: log-probabilities of many classes, rare ones in clusters with
// narrower layers (Grave et al. 2017).
#pragma once

#include <vector>

#include "groove/nn/containers.h"
#include "groove/nn/modules.h"

namespace groove::nn {

struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(std::int64_t in_features, std::int64_t n_classes,
                                    std::vector<std::int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  GROOVE_ARG(std::int64_t, in_features);
  GROOVE_ARG(std::int64_t, n_classes);
  /// Where clusters begin; the classes before the first are in the head itself.
  GROOVE_ARG(std::vector<std::int64_t>, cutoffs);
  /// By which each cluster is narrower than the one before.
  GROOVE_ARG(double, div_value) = 4.0;
  GROOVE_ARG(bool, head_bias) = false;
};

/// The log-probability of each target [N], and minus their mean.
struct ASMoutput {
  ASMoutput(Tensor output, double loss) : output(std::move(output)), loss(loss) {}
  Tensor output;
  double loss;
};

class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(std::int64_t in_features, std::int64_t n_classes,
                                 std::vector<std::int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(
            AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options);
  void reset() override;
  void reset_parameters();
  /// input [N, in_features], target [N] of classes (i64). Waits for the loss.
  ASMoutput forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output,
                            Site site = Site::current());
  /// Of all classes: [N, n_classes].
  Tensor log_prob(const Tensor& input, Site site = Site::current());
  /// The most probable class of each row: [N].
  Tensor predict(const Tensor& input, Site site = Site::current());
  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<std::int64_t> cutoffs;
  std::int64_t shortlist_size = 0;
  std::int64_t n_clusters = 0;
  std::int64_t head_size = 0;
  Linear head = nullptr;
  ModuleList tail;
};
GROOVE_MODULE(AdaptiveLogSoftmaxWithLoss);
extern template class Cloneable<AdaptiveLogSoftmaxWithLossImpl>;

}  // namespace groove::nn
