// Distances between vectors and losses over them, as modules and functions.
#pragma once

#include <functional>
#include <optional>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct PairwiseDistanceOptions {
  GROOVE_ARG(double, p) = 2.0;
  GROOVE_ARG(double, eps) = 1e-6;
  GROOVE_ARG(bool, keepdim) = false;
};
struct CosineEmbeddingLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(double, margin) = 0.0;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct TripletMarginLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(double, margin) = 1.0;
  GROOVE_ARG(double, p) = 2.0;
  GROOVE_ARG(double, eps) = 1e-6;
  GROOVE_ARG(bool, swap) = false;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct TripletMarginWithDistanceLossOptions {
  using reduction_t = groove::reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// pairwise_distance() unless given.
  GROOVE_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  GROOVE_ARG(double, margin) = 1.0;
  GROOVE_ARG(bool, swap) = false;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};

namespace functional {

using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;

// Formulas, shapes and errors are those of groove/ops/distance_losses.h.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options = {},
                         Site site = Site::current());
/// The distances of all pairs of rows of input [N, M], [N (N - 1) / 2].
Tensor pdist(const Tensor& input, double p = 2.0, Site site = Site::current());
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options = {},
                             Site site = Site::current());
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options = {},
                           Site site = Site::current());
/// As triplet_margin_loss, with a distance of the program's own.
Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {}, Site site = Site::current());

}  // namespace functional

class PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& x1, const Tensor& x2, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  PairwiseDistanceOptions options;
};
GROOVE_MODULE(PairwiseDistance);
extern template class Cloneable<PairwiseDistanceImpl>;

class CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& options = {})
      : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CosineEmbeddingLossOptions options;
};
GROOVE_MODULE(CosineEmbeddingLoss);
extern template class Cloneable<CosineEmbeddingLossImpl>;

class TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(const TripletMarginLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  TripletMarginLossOptions options;
};
GROOVE_MODULE(TripletMarginLoss);
extern template class Cloneable<TripletMarginLossImpl>;

class TripletMarginWithDistanceLossImpl : public Cloneable<TripletMarginWithDistanceLossImpl> {
 public:
  explicit TripletMarginWithDistanceLossImpl(
      const TripletMarginWithDistanceLossOptions& options = {})
      : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                 Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  TripletMarginWithDistanceLossOptions options;
};
GROOVE_MODULE(TripletMarginWithDistanceLoss);
extern template class Cloneable<TripletMarginWithDistanceLossImpl>;

}  // namespace groove::nn
