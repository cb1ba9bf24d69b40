// Trains a small GPT on the characters of Shakespeare's plays, then lets it write. Attention is
// written by hand, out of matmul, masked_fill and softmax; nothing in the loop speaks of compiling.
#include <groove/groove.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "sample_options.h"
#include "text.h"

namespace nn = groove::nn;

constexpr int64_t kLayers = 4, kHeads = 4, kChannels = 128, kContext = 64;

struct Attention : nn::Module {
  Attention() {
    qkv = register_module("qkv", nn::Linear(kChannels, 3 * kChannels));
    out = register_module("out", nn::Linear(kChannels, kChannels));
    auto ones = groove::ones({kContext, kContext});
    hidden = register_buffer("hidden", groove::triu(ones, 1).to(groove::kBool));
  }

  groove::Tensor forward(const groove::Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1);
    auto parts = qkv->forward(x).split(kChannels, 2);
    auto heads = [&](const groove::Tensor& part) {
      return part.view({batch, length, kHeads, kChannels / kHeads}).transpose(1, 2);
    };
    auto q = heads(parts[0]), k = heads(parts[1]), v = heads(parts[2]);
    auto scores = q.matmul(k.transpose(-2, -1)) * (1.0 / std::sqrt(kChannels / kHeads));
    auto mask = hidden.slice(0, 0, length).slice(1, 0, length);
    scores = scores.masked_fill(mask, -std::numeric_limits<float>::infinity());
    auto y = groove::softmax(scores, -1).matmul(v);
    return out->forward(y.transpose(1, 2).contiguous().view({batch, length, kChannels}));
  }

  nn::Linear qkv{nullptr}, out{nullptr};
  groove::Tensor hidden;  // a character sees itself and those before it
};

struct Block : nn::Module {
  Block() {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    attention = register_module("attention", std::make_shared<Attention>());
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    up = register_module("up", nn::Linear(kChannels, 4 * kChannels));
    down = register_module("down", nn::Linear(4 * kChannels, kChannels));
  }

  groove::Tensor forward(groove::Tensor x) {
    x = x + attention->forward(norm1->forward(x));
    return x + down->forward(groove::gelu(up->forward(norm2->forward(x))));
  }

  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  std::shared_ptr<Attention> attention;
  nn::Linear up{nullptr}, down{nullptr};
};

struct Gpt : nn::Module {
  explicit Gpt(int64_t characters) {
    tokens = register_module("tokens", nn::Embedding(characters, kChannels));
    places = register_module("places", nn::Embedding(kContext, kChannels));
    for (int64_t i = 0; i < kLayers; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), std::make_shared<Block>()));
    }
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kChannels})));
    head =
        register_module("head", nn::Linear(nn::LinearOptions(kChannels, characters).bias(false)));
    place = register_buffer("place", groove::arange(kContext));
  }

  // index [batch, length] of characters; gives the logits of each next one.
  groove::Tensor forward(const groove::Tensor& index) {
    auto x = tokens->forward(index) + places->forward(place.slice(0, 0, index.size(1)));
    for (auto& block : blocks) x = block->forward(x);
    return head->forward(norm->forward(x));
  }

  nn::Embedding tokens{nullptr}, places{nullptr};
  std::vector<std::shared_ptr<Block>> blocks;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
  groove::Tensor place;
};

static void train(Gpt& model, const Text& text, const SampleOptions& options) {
  groove::optim::AdamW optimizer(model.parameters(), groove::optim::AdamWOptions(1e-3));
  const int64_t last = text.characters.size(0) - kContext - 1;
  const auto window = groove::arange(kContext);
  Progress progress(options.steps, options.bits);
  for (int64_t step = 1; step <= options.steps; ++step) {
    auto index = groove::randint(last, {options.batch, 1}) + window;
    auto input = text.characters.index({index});
    auto target = text.characters.index({index + 1});

    optimizer.zero_grad();
    auto logits = model.forward(input);
    auto loss = nn::functional::cross_entropy(logits.view({-1, logits.size(2)}), target.view({-1}));
    loss.backward();
    optimizer.step();

    if (progress.wants(step)) progress.show(step, loss.item<float>());
    progress.count();
  }
  progress.finish();
}

static std::string write(Gpt& model, const Text& text, int64_t count) {
  groove::NoGradGuard no_grad;
  model.eval();
  auto index = groove::zeros({1, 1}, groove::kLong);  // a line's end
  std::string written;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = std::min(index.size(1), kContext);
    auto logits = model.forward(index.narrow(1, index.size(1) - length, length));
    auto next = groove::softmax(logits.select(1, length - 1), -1).multinomial(1);
    written += text.alphabet[static_cast<size_t>(next.item<int64_t>())];
    index = groove::cat({index, next}, 1);
  }
  return written;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 2000;
  defaults.batch = 12;
  const auto options = parse_options(
      argc, argv, "Trains a GPT of 4 layers on the characters of Shakespeare.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    const Text text(options.data, kContext);
    Gpt model(static_cast<int64_t>(text.alphabet.size()));
    train(model, text, options);
    const int64_t characters = options.bits ? 20 : 400;
    std::printf("%s\n", write(model, text, characters).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "char_gpt: %s\n", error.what());
    return 1;
  }
}
