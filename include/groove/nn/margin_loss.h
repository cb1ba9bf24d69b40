// Losses that ask for a margin between scores, as modules and functions.
#pragma once

#include <concepts>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct MarginRankingLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(double, margin) = 0;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct HingeEmbeddingLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(double, margin) = 1.0;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct MultiMarginLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(std::int64_t, p) = 1;
  GROOVE_ARG(double, margin) = 1.0;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct MultiLabelMarginLossOptions {
  using reduction_t = groove::reduction_t;
  MultiLabelMarginLossOptions() = default;
  MultiLabelMarginLossOptions(std::convertible_to<reduction_t> auto reduction)
      : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct SoftMarginLossOptions {
  using reduction_t = groove::reduction_t;
  SoftMarginLossOptions() = default;
  SoftMarginLossOptions(std::convertible_to<reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct MultiLabelSoftMarginLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(reduction_t, reduction) = kMean;
};

namespace functional {

using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;

// Formulas, shapes and errors are those of groove/ops/distance_losses.h.
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options = {},
                           Site site = Site::current());
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options = {},
                            Site site = Site::current());
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options = {},
                         Site site = Site::current());
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options = {},
                              Site site = Site::current());
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options = {}, Site site = Site::current());
/// input [.., C], target of the same shape: -weight (target log(sigmoid(input)) + (1 - target)
/// log(sigmoid(-input))), the mean over the last axis, then reduced.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options = {},
                                   Site site = Site::current());

}  // namespace functional

class MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(const MarginRankingLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MarginRankingLossOptions options;
};
GROOVE_MODULE(MarginRankingLoss);
extern template class Cloneable<MarginRankingLossImpl>;

class HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(const HingeEmbeddingLossOptions& options = {})
      : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  HingeEmbeddingLossOptions options;
};
GROOVE_MODULE(HingeEmbeddingLoss);
extern template class Cloneable<HingeEmbeddingLossImpl>;

class MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(const MultiMarginLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MultiMarginLossOptions options;
};
GROOVE_MODULE(MultiMarginLoss);
extern template class Cloneable<MultiMarginLossImpl>;

class MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(const MultiLabelMarginLossOptions& options = {})
      : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MultiLabelMarginLossOptions options;
};
GROOVE_MODULE(MultiLabelMarginLoss);
extern template class Cloneable<MultiLabelMarginLossImpl>;

class SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(const SoftMarginLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SoftMarginLossOptions options;
};
GROOVE_MODULE(SoftMarginLoss);
extern template class Cloneable<SoftMarginLossImpl>;

class MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(const MultiLabelSoftMarginLossOptions& options = {})
      : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  MultiLabelSoftMarginLossOptions options;
};
GROOVE_MODULE(MultiLabelSoftMarginLoss);
extern template class Cloneable<MultiLabelSoftMarginLossImpl>;

}  // namespace groove::nn
