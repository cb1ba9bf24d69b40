// nn::functional: the modules' arithmetic as functions.
#pragma once

#include "groove/nn/options.h"

namespace groove::nn::functional {

Tensor relu(Tensor input, const ReLUFuncOptions& options = {}, Site site = Site::current());
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options, Site site = Site::current());
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options,
                   Site site = Site::current());
Tensor sigmoid(const Tensor& input, Site site = Site::current());
Tensor tanh(const Tensor& input, Site site = Site::current());
/// input [..., in], weight [out, in], bias [out] or undefined
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              Site site = Site::current());
Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}, Site site = Site::current());
/// input [N, C], target [N] of class indices; the options as in CrossEntropyLossOptions (weights
/// per class, and label_smoothing, which spreads that part of the target over all classes).
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options = {}, Site site = Site::current());
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {},
                Site site = Site::current());
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {},
                Site site = Site::current());
Tensor pad(const Tensor& input, const PadFuncOptions& options, Site site = Site::current());
Tensor one_hot(const Tensor& tensor, std::int64_t num_classes = -1, Site site = Site::current());

}  // namespace groove::nn::functional
