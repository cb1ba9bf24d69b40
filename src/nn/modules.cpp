#include "groove/nn/modules.h"

#include <ostream>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/nn/fan_in.h"
#include "src/nn/printed.h"

namespace groove::nn {

LinearImpl::LinearImpl(const LinearOptions& options_) : options(options_) { reset(); }

void LinearImpl::reset() {
  GROOVE_CHECK(options.in_features() >= 0 && options.out_features() >= 0,
               "Linear: in_features {} and out_features {} must not be negative",
               options.in_features(), options.out_features());
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()}))
                        : register_parameter("bias", {}, false);
  reset_parameters();
}

void LinearImpl::reset_parameters() { reset_by_fan_in(weight, bias); }

Tensor LinearImpl::forward(const Tensor& input, Site site) {
  return functional::linear(input, weight, bias, site);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", bias=" << text(options.bias()) << ")";
}

void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Identity()"; }

Tensor FlattenImpl::forward(const Tensor& input, Site site) {
  return flatten(Arg(input, site), options.start_dim(), options.end_dim());
}
void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Flatten(start_dim=" << options.start_dim()
         << ", end_dim=" << options.end_dim() << ")";
}

Tensor ReLUImpl::forward(Tensor input, Site site) {
  return functional::relu(std::move(input), options, site);
}
void ReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU(" << inplace_text(options.inplace()) << ")";
}

Tensor SigmoidImpl::forward(const Tensor& input, Site site) {
  return functional::sigmoid(input, site);
}
void SigmoidImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sigmoid()"; }

Tensor TanhImpl::forward(const Tensor& input, Site site) { return functional::tanh(input, site); }
void TanhImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Tanh()"; }

Tensor SoftmaxImpl::forward(const Tensor& input, Site site) {
  return functional::softmax(input, options.dim(), site);
}
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax(dim=" << options.dim() << ")";
}

Tensor LogSoftmaxImpl::forward(const Tensor& input, Site site) {
  return functional::log_softmax(input, options.dim(), site);
}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")";
}

DropoutImpl::DropoutImpl(const DropoutOptions& options_) : options(options_) {
  GROOVE_CHECK(options.p() >= 0 && options.p() <= 1,
               "Dropout: p is {}; a probability lies between 0 and 1", options.p());
}
Tensor DropoutImpl::forward(Tensor input, Site site) {
  return functional::dropout(std::move(input),
                             functional::DropoutFuncOptions()
                                 .p(options.p())
                                 .training(is_training())
                                 .inplace(options.inplace()),
                             site);
}
void DropoutImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Dropout(p=" << options.p() << ", inplace=" << text(options.inplace())
         << ")";
}

Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::mse_loss(input, target, options, site);
}
void MSELossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::MSELoss()"; }

Tensor CrossEntropyLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::cross_entropy(input, target, options, site);
}
void CrossEntropyLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CrossEntropyLoss()";
}

Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target, Site site) {
  return functional::nll_loss(input, target, options, site);
}
void NLLLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::NLLLoss()"; }

template class Cloneable<LinearImpl>;
template class Cloneable<IdentityImpl>;
template class Cloneable<FlattenImpl>;
template class Cloneable<ReLUImpl>;
template class Cloneable<SigmoidImpl>;
template class Cloneable<TanhImpl>;
template class Cloneable<SoftmaxImpl>;
template class Cloneable<LogSoftmaxImpl>;
template class Cloneable<DropoutImpl>;
template class Cloneable<MSELossImpl>;
template class Cloneable<CrossEntropyLossImpl>;
template class Cloneable<NLLLossImpl>;

}  // namespace groove::nn
