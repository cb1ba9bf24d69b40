// AdaptiveLogSoftmaxWithLoss.

#include "cases.h"

using namespace agreement;

CASE(adaptive_log_softmax) {
  using namespace torch::nn;
  AdaptiveLogSoftmaxWithLoss module(
      AdaptiveLogSoftmaxWithLossOptions(8, 12, {3, 7}).div_value(2).head_bias(true));
  for (const auto& parameter : module->named_parameters())
    show(parameter.key(), parameter.value() * 0);
  fill(*module);
  const auto x = leaf({5, 8}, 0);
  const auto y = torch::tensor({0, 3, 11, 6, 7}, torch::kLong);
  std::vector<torch::Tensor> inputs = {x};
  for (const auto& parameter : module->parameters()) inputs.push_back(parameter);
  const auto result = module(x, y);
  show("loss", result.loss);
  show_gradients("output", result.output, inputs);
  show_gradients("log_prob", module->log_prob(x), inputs);
  show("predict", module->predict(x));
  show("text", printed(*module));
  AdaptiveLogSoftmaxWithLoss plain(8, 6, std::vector<int64_t>{2});
  show("sizes", static_cast<double>(plain->head_size * 100 + plain->n_clusters * 10 +
                                    plain->shortlist_size));
  show_error("target", [&] { module(x, y + 1); });
  show_error("width", [&] { module(filled({5, 7}), y); });
  show_error("cutoffs", [] { AdaptiveLogSoftmaxWithLoss wrong(8, 6, std::vector<int64_t>{3, 2}); });
  show_error("cutoff", [] { AdaptiveLogSoftmaxWithLoss wrong(8, 6, std::vector<int64_t>{6}); });
}
