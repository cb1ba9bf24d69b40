// A6: nn::LSTM; A6b: the same written by hand as a loop over an nn::LSTMCell. Input and hidden size
// 64, batch 8, 64 time steps, forward and backward of the sum of all outputs.
#include <torch/torch.h>

#include <vector>

#include "anchors_models.h"

namespace {

namespace nn = torch::nn;

constexpr int64_t kSteps = 64, kBatch = 8, kSize = 64;
constexpr int kSequences = 4;

template <typename Net>
class Recurrent : public Anchor {
 public:
  Recurrent() : net_(kSize, kSize) {
    for (int i = 0; i < kSequences; ++i) {
      sequences_.push_back(torch::randn({kSteps, kBatch, kSize}));
    }
  }

  double run(int64_t steps) override {
    torch::Tensor sum;
    for (int64_t step = 0; step < steps; ++step) {
      net_->zero_grad();
      sum = outputs(sequences_[step % kSequences]);
      sum.backward();
    }
    for (auto& parameter : net_->parameters()) {
      parameter.grad().view({-1})[0].template item<float>();
    }
    return sum.item<float>();
  }

 private:
  torch::Tensor outputs(const torch::Tensor& sequence) {
    if constexpr (std::is_same_v<Net, nn::LSTM>) {
      return std::get<0>(net_->forward(sequence)).sum();
    } else {
      auto h = torch::zeros({kBatch, kSize}), c = torch::zeros({kBatch, kSize});
      torch::Tensor sum;
      for (int64_t t = 0; t < kSteps; ++t) {
        std::tie(h, c) = net_->forward(sequence[t], std::make_tuple(h, c));
        sum = sum.defined() ? sum + h.sum() : h.sum();
      }
      return sum;
    }
  }

  Net net_;
  std::vector<torch::Tensor> sequences_;
};

}  // namespace

AnchorPtr make_recurrent(const std::string& name) {
  if (name == "A6") return std::make_unique<Recurrent<nn::LSTM>>();
  if (name == "A6b") return std::make_unique<Recurrent<nn::LSTMCell>>();
  return nullptr;
}
