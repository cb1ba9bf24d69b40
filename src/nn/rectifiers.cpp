#include "groove/nn/rectifiers.h"

#include <ostream>

#include "groove/ops/activations.h"
#include "src/nn/printed.h"

namespace groove::nn {
namespace functional {

Tensor selu(Tensor input, const SELUFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? selu_(self) : groove::selu(self);
}
Tensor celu(Tensor input, const CELUFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? celu_(self, options.alpha()) : groove::celu(self, options.alpha());
}
Tensor rrelu(Tensor input, const RReLUFuncOptions& options, Site site) {
  const Arg self(input, site);
  if (options.inplace()) return rrelu_(self, options.lower(), options.upper(), options.training());
  return groove::rrelu(self, options.lower(), options.upper(), options.training());
}
Tensor threshold(Tensor input, const ThresholdFuncOptions& options, Site site) {
  const Arg self(input, site);
  return options.inplace() ? threshold_(self, options.threshold(), options.value())
                           : groove::threshold(self, options.threshold(), options.value());
}

}  // namespace functional

Tensor SELUImpl::forward(Tensor input, Site site) {
  return functional::selu(std::move(input), options, site);
}
void SELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SELU(" << inplace_text(options.inplace()) << ")";
}

Tensor CELUImpl::forward(Tensor input, Site site) {
  return functional::celu(std::move(input), options, site);
}
void CELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CELU(alpha=" << options.alpha() << later_inplace_text(options.inplace())
         << ")";
}

Tensor RReLUImpl::forward(Tensor input, Site site) {
  return functional::rrelu(std::move(input),
                           functional::RReLUFuncOptions()
                               .lower(options.lower())
                               .upper(options.upper())
                               .training(is_training())
                               .inplace(options.inplace()),
                           site);
}
void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper()
         << later_inplace_text(options.inplace()) << ")";
}

Tensor ThresholdImpl::forward(Tensor input, Site site) {
  return functional::threshold(std::move(input), options, site);
}
void ThresholdImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Threshold(threshold=" << options.threshold()
         << ", value=" << options.value() << later_inplace_text(options.inplace()) << ")";
}

template class Cloneable<SELUImpl>;
template class Cloneable<CELUImpl>;
template class Cloneable<RReLUImpl>;
template class Cloneable<ThresholdImpl>;

}  // namespace groove::nn
