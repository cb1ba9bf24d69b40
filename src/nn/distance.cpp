#include "groove/nn/distance.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/distance_losses.h"
#include "groove/ops/math.h"
#include "groove/ops/products.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/elementwise_loss.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace functional {

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options, Site site) {
  return groove::pairwise_distance(Arg(x1, site), x2, options.p(), options.eps(),
                                   options.keepdim());
}

Tensor pdist(const Tensor& input, double p, Site site) {
  return groove::pdist(Arg(input, site), p);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options, Site site) {
  return groove::cosine_embedding_loss(Arg(input1, site), input2, target, options.margin(),
                                       options.reduction().code());
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options, Site site) {
  return groove::triplet_margin_loss(Arg(anchor, site), positive, negative, options.margin(),
                                     options.p(), options.eps(), options.swap(),
                                     options.reduction().code());
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options,
                                         Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return options.distance_function() ? (*options.distance_function())(x, y)
                                       : groove::pairwise_distance(x, y);
  };
  const Tensor alike = distance(anchor, positive);
  Tensor apart = distance(anchor, negative);
  if (options.swap()) apart = minimum(apart, distance(positive, negative));
  const Tensor loss = clamp_min(add(sub(alike, apart), options.margin()), 0);
  return reduce_loss(loss, options.reduction().code());
}

}  // namespace functional

Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2, Site site) {
  return functional::pairwise_distance(x1, x2, options, site);
}
void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PairwiseDistance(p=" << options.p() << ", eps=" << options.eps()
         << ", keepdim=" << text(options.keepdim()) << ")";
}

Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1, const Tensor& input2,
                                        const Tensor& target, Site site) {
  return functional::cosine_embedding_loss(input1, input2, target, options, site);
}
void CosineEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CosineEmbeddingLoss(margin=" << options.margin() << ")";
}

Tensor TripletMarginLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                      const Tensor& negative, Site site) {
  return functional::triplet_margin_loss(anchor, positive, negative, options, site);
}
void TripletMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::TripletMarginLoss(margin=" << options.margin() << ", p=" << options.p()
         << ", eps=" << options.eps() << ", swap=" << text(options.swap()) << ")";
}

Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative, Site site) {
  return functional::triplet_margin_with_distance_loss(anchor, positive, negative, options, site);
}
void TripletMarginWithDistanceLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::TripletMarginWithDistanceLoss(margin=" << options.margin()
         << ", swap=" << text(options.swap()) << ")";
}

template class Cloneable<PairwiseDistanceImpl>;
template class Cloneable<CosineEmbeddingLossImpl>;
template class Cloneable<TripletMarginLossImpl>;
template class Cloneable<TripletMarginWithDistanceLossImpl>;

}  // namespace groove::nn
