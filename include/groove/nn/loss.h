// Losses as modules and functions, besides those of modules.h.
#pragma once

#include <concepts>
#include <optional>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct L1LossOptions {
  using reduction_t = groove::reduction_t;
  L1LossOptions() = default;
  L1LossOptions(std::convertible_to<reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct SmoothL1LossOptions {
  using reduction_t = groove::reduction_t;
  SmoothL1LossOptions() = default;
  SmoothL1LossOptions(std::convertible_to<reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
  GROOVE_ARG(std::optional<double>, beta) = std::nullopt;
};
struct HuberLossOptions {
  using reduction_t = groove::reduction_t;
  HuberLossOptions() = default;
  HuberLossOptions(std::convertible_to<reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(reduction_t, reduction) = kMean;
  GROOVE_ARG(double, delta) = 1.0;
};
struct BCELossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct BCEWithLogitsLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(Tensor, weight) = {};
  GROOVE_ARG(reduction_t, reduction) = kMean;
  GROOVE_ARG(Tensor, pos_weight) = {};
};

/// Besides the usual reductions: the sum divided by the size of the first axis.
class kldiv_reduction_t {
 public:
  constexpr kldiv_reduction_t(enumtype::kNone) : reduction_(kNone) {}
  constexpr kldiv_reduction_t(enumtype::kMean) : reduction_(kMean) {}
  constexpr kldiv_reduction_t(enumtype::kSum) : reduction_(kSum) {}
  constexpr kldiv_reduction_t(enumtype::kBatchMean) : reduction_(kSum), is_batch_mean_(true) {}
  constexpr std::int64_t code() const { return reduction_.code(); }
  constexpr bool is_batch_mean() const { return is_batch_mean_; }

 private:
  reduction_t reduction_;
  bool is_batch_mean_ = false;
};
struct KLDivLossOptions {
  KLDivLossOptions() = default;
  KLDivLossOptions(std::convertible_to<kldiv_reduction_t> auto reduction) : reduction_(reduction) {}
  GROOVE_ARG(kldiv_reduction_t, reduction) = kMean;
  GROOVE_ARG(bool, log_target) = false;
};

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using KLDivFuncOptions = KLDivLossOptions;

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {},
               Site site = Site::current());
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options = {}, Site site = Site::current());
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta,
                      Site site = Site::current());
Tensor huber_loss(const Tensor& input, const Tensor& target,
                  const HuberLossFuncOptions& options = {}, Site site = Site::current());
/// input in [0, 1]
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options = {},
                            Site site = Site::current());
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options = {},
                                        Site site = Site::current());
/// input holds log-probabilities
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {},
              Site site = Site::current());

}  // namespace functional

class L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(const L1LossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  L1LossOptions options;
};
GROOVE_MODULE(L1Loss);
extern template class Cloneable<L1LossImpl>;

class SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(const SmoothL1LossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  SmoothL1LossOptions options;
};
GROOVE_MODULE(SmoothL1Loss);
extern template class Cloneable<SmoothL1LossImpl>;

class HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(const HuberLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  HuberLossOptions options;
};
GROOVE_MODULE(HuberLoss);
extern template class Cloneable<HuberLossImpl>;

class BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(const BCELossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  BCELossOptions options;
};
GROOVE_MODULE(BCELoss);
extern template class Cloneable<BCELossImpl>;

class BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  BCEWithLogitsLossOptions options;
};
GROOVE_MODULE(BCEWithLogitsLoss);
extern template class Cloneable<BCEWithLogitsLossImpl>;

class KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(const KLDivLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  KLDivLossOptions options;
};
GROOVE_MODULE(KLDivLoss);
extern template class Cloneable<KLDivLossImpl>;

}  // namespace groove::nn
