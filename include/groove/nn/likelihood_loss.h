// Negative logarithms of likelihoods besides those of loss.h: Poisson's, and CTC's of sequences.
#pragma once

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

struct PoissonNLLLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(bool, log_input) = true;
  GROOVE_ARG(bool, full) = false;
  /// Added to the input before its logarithm is taken.
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(reduction_t, reduction) = kMean;
};
struct CTCLossOptions {
  using reduction_t = groove::reduction_t;
  GROOVE_ARG(std::int64_t, blank) = 0;
  GROOVE_ARG(reduction_t, reduction) = kMean;
  GROOVE_ARG(bool, zero_infinity) = false;
};

namespace functional {

using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using CTCLossFuncOptions = CTCLossOptions;

// Formulas, shapes and errors are those of groove/ops/distance_losses.h.
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options = {}, Site site = Site::current());
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& options = {},
                Site site = Site::current());

}  // namespace functional

class PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(const PoissonNLLLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& log_input, const Tensor& targets, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  PoissonNLLLossOptions options;
};
GROOVE_MODULE(PoissonNLLLoss);
extern template class Cloneable<PoissonNLLLossImpl>;

class CTCLossImpl : public Cloneable<CTCLossImpl> {
 public:
  explicit CTCLossImpl(const CTCLossOptions& options = {}) : options(options) {}
  void reset() override {}
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  CTCLossOptions options;
};
GROOVE_MODULE(CTCLoss);
extern template class Cloneable<CTCLossImpl>;

}  // namespace groove::nn
