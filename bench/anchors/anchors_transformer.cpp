// A7: a character GPT with attention by hand; A7s: by scaled_dot_product_attention. 4 layers, 4
// heads, 128 channels, context 64, batch 12, 65 characters, AdamW.
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <vector>

#include "anchors_models.h"

namespace {

namespace nn = torch::nn;

constexpr int64_t kLayers = 4, kHeads = 4, kChannels = 128, kContext = 64, kBatch = 12,
                  kCharacters = 65;

struct Attention : nn::Module {
  explicit Attention(bool is_fused) : is_fused(is_fused) {
    qkv = register_module("qkv", nn::Linear(kChannels, 3 * kChannels));
    out = register_module("out", nn::Linear(kChannels, kChannels));
    hidden = register_buffer(
        "hidden", torch::triu(torch::ones({kContext, kContext}), 1).to(torch::kBool));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1);
    auto parts = qkv->forward(x).split(kChannels, 2);
    auto heads = [&](const torch::Tensor& part) {
      return part.view({batch, length, kHeads, kChannels / kHeads}).transpose(1, 2);
    };
    auto q = heads(parts[0]), k = heads(parts[1]), v = heads(parts[2]);
    torch::Tensor y;
    if (is_fused) {
      y = torch::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
    } else {
      auto scores = q.matmul(k.transpose(-2, -1)) * (1.0 / std::sqrt(kChannels / kHeads));
      scores = scores.masked_fill(hidden, -std::numeric_limits<float>::infinity());
      y = torch::softmax(scores, -1).matmul(v);
    }
    return out->forward(y.transpose(1, 2).contiguous().view({batch, length, kChannels}));
  }
  bool is_fused;
  nn::Linear qkv{nullptr}, out{nullptr};
  torch::Tensor hidden;
};

struct Block : nn::Module {
  explicit Block(bool is_fused) {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    attention = register_module("attention", std::make_shared<Attention>(is_fused));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    up = register_module("up", nn::Linear(kChannels, 4 * kChannels));
    down = register_module("down", nn::Linear(4 * kChannels, kChannels));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = x + attention->forward(norm1->forward(x));
    return x + down->forward(torch::gelu(up->forward(norm2->forward(x))));
  }
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  std::shared_ptr<Attention> attention;
  nn::Linear up{nullptr}, down{nullptr};
};

struct Gpt : nn::Module {
  explicit Gpt(bool is_fused) {
    tokens = register_module("tokens", nn::Embedding(kCharacters, kChannels));
    places = register_module("places", nn::Embedding(kContext, kChannels));
    for (int64_t i = 0; i < kLayers; ++i) {
      blocks.push_back(
          register_module("block" + std::to_string(i), std::make_shared<Block>(is_fused)));
    }
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    head = register_module(
        "head", nn::Linear(nn::LinearOptions(kChannels, kCharacters).bias(false)));
    place = torch::arange(kContext);
  }
  torch::Tensor forward(const torch::Tensor& index) {
    auto x = tokens->forward(index) + places->forward(place);
    for (auto& block : blocks) x = block->forward(x);
    return head->forward(norm->forward(x));
  }
  nn::Embedding tokens{nullptr}, places{nullptr};
  std::vector<std::shared_ptr<Block>> blocks;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
  torch::Tensor place;
};

class Transformer : public Anchor {
 public:
  explicit Transformer(bool is_fused)
      : net_(is_fused), optimizer_(net_.parameters(), torch::optim::AdamWOptions(3e-4)) {
    for (int i = 0; i < kBatches; ++i) {
      inputs_.push_back(torch::randint(kCharacters, {kBatch, kContext}, torch::kInt64));
      targets_.push_back(torch::randint(kCharacters, {kBatch * kContext}, torch::kInt64));
    }
  }

  double run(int64_t steps) override {
    torch::Tensor loss;
    for (int64_t step = 0; step < steps; ++step) {
      optimizer_.zero_grad();
      auto logits = net_.forward(inputs_[step % kBatches]).view({-1, kCharacters});
      loss = torch::nn::functional::cross_entropy(logits, targets_[step % kBatches]);
      loss.backward();
      optimizer_.step();
    }
    torch::NoGradGuard no_grad;
    for (auto& parameter : net_.parameters()) parameter.view({-1})[0].item<float>();
    return loss.item<float>();
  }

 private:
  static constexpr int kBatches = 4;
  Gpt net_;
  torch::optim::AdamW optimizer_;
  std::vector<torch::Tensor> inputs_, targets_;
};

}  // namespace

AnchorPtr make_transformer(const std::string& name) {
  if (name == "A7") return std::make_unique<Transformer>(false);
  if (name == "A7s") return std::make_unique<Transformer>(true);
  return nullptr;
}
