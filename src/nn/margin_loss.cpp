#include "groove/nn/margin_loss.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/activations.h"
#include "groove/ops/distance_losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/elementwise_loss.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  GROOVE_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
               "margin_ranking_loss: inputs {} and {} and target {} must have as many axes",
               to_string(input1.sizes()), to_string(input2.sizes()), to_string(target.sizes()));
  return groove::margin_ranking_loss(input1, input2, target, options.margin(),
                                     options.reduction().code());
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options, Site site) {
  return groove::hinge_embedding_loss(Arg(input, site), target, options.margin(),
                                      options.reduction().code());
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options, Site site) {
  return groove::multi_margin_loss(Arg(input, site), target, options.p(), options.margin(),
                                   options.weight(), options.reduction().code());
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options, Site site) {
  return groove::multilabel_margin_loss(Arg(input, site), target, options.reduction().code());
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options, Site site) {
  return groove::soft_margin_loss(Arg(input, site), target, options.reduction().code());
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  GROOVE_CHECK(input.dim() > 0, "multilabel_soft_margin_loss: the input has no axis of classes");
  Tensor loss = neg(add(mul(target, log_sigmoid(input)), mul(1 - target, log_sigmoid(-input))));
  if (options.weight().defined()) loss = mul(loss, options.weight());
  loss = div(sum(loss, -1), input.size(-1));
  return reduce_loss(loss, options.reduction().code());
}

}  // namespace functional

Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2,
                                      const Tensor& target, Site site) {
  return functional::margin_ranking_loss(input1, input2, target, options, site);
}
void MarginRankingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MarginRankingLoss()";
}

Tensor HingeEmbeddingLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::hinge_embedding_loss(input, target, options, site);
}
void HingeEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::HingeEmbeddingLoss(margin=" << options.margin() << ")";
}

Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::multi_margin_loss(input, target, options, site);
}
void MultiMarginLossImpl::pretty_print(std::ostream& stream) const {
  static constexpr const char* kReductions[] = {"kNone", "kMean", "kSum"};
  stream << "torch::nn::MultiMarginLoss(p=" << options.p() << ", margin=" << options.margin()
         << ", weight=" << options.weight()
         << ", reduction=" << kReductions[options.reduction().code()] << ")";
}

Tensor MultiLabelMarginLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::multilabel_margin_loss(input, target, options, site);
}
void MultiLabelMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MultiLabelMarginLoss()";
}

Tensor SoftMarginLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::soft_margin_loss(input, target, options, site);
}
void SoftMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SoftMarginLoss()";
}

Tensor MultiLabelSoftMarginLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::multilabel_soft_margin_loss(input, target, options, site);
}
void MultiLabelSoftMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MultiLabelSoftMarginLoss()";
}

template class Cloneable<MarginRankingLossImpl>;
template class Cloneable<HingeEmbeddingLossImpl>;
template class Cloneable<MultiMarginLossImpl>;
template class Cloneable<MultiLabelMarginLossImpl>;
template class Cloneable<SoftMarginLossImpl>;
template class Cloneable<MultiLabelSoftMarginLossImpl>;

}  // namespace groove::nn
