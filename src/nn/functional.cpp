#include "groove/nn/functional.h"

#include <string_view>

#include "groove/ops/contractions.h"
#include "groove/ops/index.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"

namespace groove::nn::functional {
Tensor relu(Tensor input, const ReLUFuncOptions& options, Site site) {
  const CallFrame frame(site);
  if (options.inplace()) return input.relu_(site);
  return groove::relu(Arg(input, site));
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options, Site site) {
  const CallFrame frame(site);
  return groove::softmax(Arg(input, site), options.dim(), options.dtype());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options, Site site) {
  const CallFrame frame(site);
  return groove::log_softmax(Arg(input, site), options.dim(), options.dtype());
}

Tensor sigmoid(const Tensor& input, Site site) { return groove::sigmoid(Arg(input, site)); }
Tensor tanh(const Tensor& input, Site site) { return groove::tanh(Arg(input, site)); }

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Site site) {
  return groove::linear(Arg(input, site), weight, bias);
}

Tensor dropout(Tensor input, const DropoutFuncOptions& options, Site site) {
  const CallFrame frame(site);
  Tensor result = groove::dropout(Arg(input, site), options.p(), options.training());
  if (!options.inplace() || !options.training()) return result;
  return input.copy_(result, false, site);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options, Site site) {
  const CallFrame frame(site);
  return cross_entropy_loss(Arg(input, site), target, options.weight(), options.reduction().code(),
                            options.ignore_index(), options.label_smoothing());
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options,
                Site site) {
  return groove::nll_loss(Arg(input, site), target, options.weight(), options.reduction().code(),
                          options.ignore_index());
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options,
                Site site) {
  return groove::mse_loss(Arg(input, site), target, options.reduction().code());
}

Tensor pad(const Tensor& input, const PadFuncOptions& options, Site site) {
  const CallFrame frame(site);
  const bool has_value = std::string_view(options.mode().name()) == "constant";
  return groove::pad(Arg(input, site), options.pad(), options.mode().name(),
                     has_value ? std::optional<Scalar>(options.value()) : std::nullopt);
}

Tensor one_hot(const Tensor& tensor, std::int64_t num_classes, Site site) {
  return groove::one_hot(Arg(tensor, site), num_classes);
}

}  // namespace groove::nn::functional
