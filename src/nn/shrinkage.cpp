#include "groove/nn/shrinkage.h"

#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/ops/activations.h"
#include "groove/ops/math.h"

namespace groove::nn {
namespace functional {

Tensor logsigmoid(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return log_sigmoid(input);
}
Tensor softsign(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return div(input, add(abs(input), 1));
}
Tensor tanhshrink(const Tensor& input, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return sub(input, groove::tanh(input));
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options, Site site) {
  return groove::hardshrink(Arg(input, site), options.lambda());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options, Site site) {
  return groove::softshrink(Arg(input, site), options.lambda());
}

}  // namespace functional

Tensor LogSigmoidImpl::forward(const Tensor& input, Site site) {
  return functional::logsigmoid(input, site);
}
void LogSigmoidImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSigmoid()";
}

Tensor SoftsignImpl::forward(const Tensor& input, Site site) {
  return functional::softsign(input, site);
}
void SoftsignImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softsign()"; }

Tensor TanhshrinkImpl::forward(const Tensor& input, Site site) {
  return functional::tanhshrink(input, site);
}
void TanhshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Tanhshrink()";
}

Tensor HardshrinkImpl::forward(const Tensor& input, Site site) {
  return functional::hardshrink(input, options, site);
}
void HardshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardshrink(" << options.lambda() << ")";
}

Tensor SoftshrinkImpl::forward(const Tensor& input, Site site) {
  return functional::softshrink(input, options, site);
}
void SoftshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softshrink(" << options.lambda() << ")";
}

template class Cloneable<LogSigmoidImpl>;
template class Cloneable<SoftsignImpl>;
template class Cloneable<TanhshrinkImpl>;
template class Cloneable<HardshrinkImpl>;
template class Cloneable<SoftshrinkImpl>;

}  // namespace groove::nn
