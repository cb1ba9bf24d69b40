#include "groove/nn/likelihood_loss.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/distance_losses.h"

namespace groove::nn {
namespace functional {

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options, Site site) {
  return groove::poisson_nll_loss(Arg(input, site), target, options.log_input(), options.full(),
                                  options.eps(), options.reduction().code());
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& options, Site site) {
  return groove::ctc_loss(Arg(log_probs, site), targets, input_lengths, target_lengths,
                          options.blank(), options.reduction().code(), options.zero_infinity());
}

}  // namespace functional

Tensor PoissonNLLLossImpl::forward(const Tensor& log_input, const Tensor& targets, Site site) {
  return functional::poisson_nll_loss(log_input, targets, options, site);
}
void PoissonNLLLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PoissonNLLLoss()";
}

Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths, const Tensor& target_lengths, Site site) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options, site);
}
void CTCLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::CTCLoss()"; }

template class Cloneable<PoissonNLLLossImpl>;
template class Cloneable<CTCLossImpl>;

}  // namespace groove::nn
