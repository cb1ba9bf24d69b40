#include "groove/nn/loss.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace functional {

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options,
               Site site) {
  return groove::l1_loss(Arg(input, site), target, options.reduction().code());
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, Site site) {
  return groove::smooth_l1_loss(Arg(input, site), target, options.reduction().code(),
                                options.beta().value_or(1.0));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(!options.beta(), "smooth_l1_loss: beta is given twice, in the options and beside");
  return groove::smooth_l1_loss(Arg(input, site), target, options.reduction().code(), beta);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options,
                  Site site) {
  return groove::huber_loss(Arg(input, site), target, options.reduction().code(), options.delta());
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  GROOVE_CHECK(!input.defined() || !target.defined() || input.sizes() == target.sizes(),
               "binary_cross_entropy: input {} and target {} must have one shape",
               to_string(input.sizes()), to_string(target.sizes()));
  return groove::binary_cross_entropy(Arg(input, site), target, options.weight(),
                                      options.reduction().code());
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options,
                                        Site site) {
  return groove::binary_cross_entropy_with_logits(Arg(input, site), target, options.weight(),
                                                  options.pos_weight(), options.reduction().code());
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options,
              Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const Tensor loss =
      groove::kl_div(input, target, options.reduction().code(), options.log_target());
  if (!options.reduction().is_batch_mean() || input.dim() == 0) return loss;
  return div(loss, input.size(0));
}

}  // namespace functional

Tensor L1LossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::l1_loss(input, target, options, site);
}
void L1LossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::L1Loss()"; }

Tensor SmoothL1LossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::smooth_l1_loss(input, target, options, site);
}
void SmoothL1LossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SmoothL1Loss";
}

Tensor HuberLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::huber_loss(input, target, options, site);
}
void HuberLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::HuberLoss"; }

Tensor BCELossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::binary_cross_entropy(input, target, options, site);
}
void BCELossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::BCELoss()"; }

Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::binary_cross_entropy_with_logits(input, target, options, site);
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::BCEWithLogitsLoss()";
}

Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::kl_div(input, target, options, site);
}
void KLDivLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::KLDivLoss()"; }

template class Cloneable<L1LossImpl>;
template class Cloneable<SmoothL1LossImpl>;
template class Cloneable<HuberLossImpl>;
template class Cloneable<BCELossImpl>;
template class Cloneable<BCEWithLogitsLossImpl>;
template class Cloneable<KLDivLossImpl>;

}  // namespace groove::nn
