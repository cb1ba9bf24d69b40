// A4: LeNet-5 on digits; A5: ResNet-18 on images of 32x32 with batch normalisation.
#include <torch/torch.h>

#include <vector>

#include "anchors_models.h"

namespace {

namespace nn = torch::nn;

struct LeNet : nn::Module {
  LeNet() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", nn::Linear(256, 120));
    fc2 = register_module("fc2", nn::Linear(120, 84));
    fc3 = register_module("fc3", nn::Linear(84, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1->forward(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2->forward(x)), 2);
    x = x.view({x.size(0), -1});
    x = torch::relu(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return fc3->forward(x);
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

struct Block : nn::Module {
  Block(int64_t in, int64_t out, int64_t stride) {
    conv1 = register_module("conv1", conv(in, out, 3, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(out));
    conv2 = register_module("conv2", conv(out, out, 3, 1));
    bn2 = register_module("bn2", nn::BatchNorm2d(out));
    if (stride != 1 || in != out) {
      shortcut = register_module(
          "shortcut", nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = torch::relu(bn1->forward(conv1->forward(x)));
    y = bn2->forward(conv2->forward(y));
    y = y + (shortcut.is_empty() ? x : shortcut->forward(x));
    return torch::relu(y);
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::Sequential shortcut{nullptr};
};

struct ResNet : nn::Module {
  ResNet() {
    stem = register_module("stem", conv(3, 64, 3, 1));
    bn = register_module("bn", nn::BatchNorm2d(64));
    int64_t in = 64;
    for (int64_t out : {64, 128, 256, 512}) {
      for (int64_t i = 0; i < 2; ++i) {
        const int64_t stride = i == 0 && out != 64 ? 2 : 1;
        blocks.push_back(register_module("block" + std::to_string(blocks.size()),
                                         std::make_shared<Block>(in, out, stride)));
        in = out;
      }
    }
    head = register_module("head", nn::Linear(512, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(bn->forward(stem->forward(x)));
    for (auto& block : blocks) x = block->forward(x);
    x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return head->forward(x);
  }
  nn::Conv2d stem{nullptr};
  nn::BatchNorm2d bn{nullptr};
  std::vector<std::shared_ptr<Block>> blocks;
  nn::Linear head{nullptr};
};

template <typename Net, typename Optimizer>
class Classifier : public Anchor {
 public:
  template <typename Options>
  Classifier(torch::IntArrayRef sizes, const Options& options)
      : optimizer_(net_.parameters(), options) {
    for (int i = 0; i < kBatches; ++i) {
      inputs_.push_back(torch::randn(sizes));
      targets_.push_back(torch::randint(10, {sizes[0]}, torch::kInt64));
    }
  }

  double run(int64_t steps) override {
    torch::Tensor loss;
    for (int64_t step = 0; step < steps; ++step) {
      optimizer_.zero_grad();
      loss = torch::nn::functional::cross_entropy(net_.forward(inputs_[step % kBatches]),
                                                  targets_[step % kBatches]);
      loss.backward();
      optimizer_.step();
    }
    torch::NoGradGuard no_grad;
    for (auto& parameter : net_.parameters()) parameter.view({-1})[0].template item<float>();
    return loss.item<float>();
  }

 private:
  static constexpr int kBatches = 4;
  Net net_;
  Optimizer optimizer_;
  std::vector<torch::Tensor> inputs_, targets_;
};

}  // namespace

AnchorPtr make_convolutional(const std::string& name) {
  namespace optim = torch::optim;
  if (name == "A4") {
    return std::make_unique<Classifier<LeNet, optim::Adam>>(torch::IntArrayRef({64, 1, 28, 28}),
                                                            optim::AdamOptions(1e-3));
  }
  if (name == "A5") {
    return std::make_unique<Classifier<ResNet, optim::SGD>>(
        torch::IntArrayRef({32, 3, 32, 32}),
        optim::SGDOptions(0.1).momentum(0.9).weight_decay(5e-4));
  }
  return nullptr;
}
