// An embedding, an LSTM of two layers and a linear head learn Shakespeare's characters, in
// sequences whose length is drawn anew for every step, then write some.
#include <groove/groove.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "sample_options.h"
#include "text.h"

namespace nn = groove::nn;

constexpr int64_t kChannels = 64, kHidden = 128, kLayers = 2;
constexpr int64_t kShortest = 16, kLongest = 48;
constexpr int64_t kTest = 100000;  // characters at the end that are not learned from

struct CharLstm : nn::Module {
  using State = std::optional<std::tuple<groove::Tensor, groove::Tensor>>;

  explicit CharLstm(int64_t characters) {
    embedding = register_module("embedding", nn::Embedding(characters, kChannels));
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(kChannels, kHidden)
                                                .num_layers(kLayers)
                                                .batch_first(true)
                                                .dropout(0.1)));
    head = register_module("head", nn::Linear(kHidden, characters));
  }

  // index [batch, length] of characters; gives the logits of each next one and the last state.
  std::pair<groove::Tensor, State> forward(const groove::Tensor& index, State state = {}) {
    auto [output, last] = lstm->forward(embedding->forward(index), state);
    return {head->forward(output), last};
  }

  nn::Embedding embedding{nullptr};
  nn::LSTM lstm{nullptr};
  nn::Linear head{nullptr};
};

// The loss of the sequences of `length` characters that begin at `start` [batch, 1].
static groove::Tensor loss_of(CharLstm& model, const Text& text, const groove::Tensor& start,
                              int64_t length) {
  auto index = start + groove::arange(length);
  auto logits = model.forward(text.characters.index({index})).first;
  auto target = text.characters.index({index + 1});
  return nn::functional::cross_entropy(logits.flatten(0, 1), target.flatten());
}

static void train(CharLstm& model, const Text& text, const SampleOptions& options) {
  groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(3e-3));
  std::mt19937_64 random(options.seed);
  const int64_t last = text.characters.size(0) - kTest - kLongest - 1;
  Progress progress(options.steps, options.bits);
  for (int64_t step = 1; step <= options.steps; ++step) {
    const auto drawn = static_cast<int64_t>(random() % (kLongest - kShortest + 1));
    optimizer.zero_grad();
    auto loss = loss_of(model, text, groove::randint(last, {options.batch, 1}), kShortest + drawn);
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();

    if (progress.wants(step)) progress.show(step, loss.item<float>());
    progress.count();
  }
  progress.finish();
}

// Bits a character of so many sequences of the text's last part.
static double test_bits(CharLstm& model, const Text& text, int64_t sequences) {
  groove::NoGradGuard no_grad;
  model.eval();
  constexpr int64_t kLength = 100;
  const int64_t first = text.characters.size(0) - kTest;
  auto start = (groove::arange(sequences) * kLength + first).unsqueeze(1);
  return loss_of(model, text, start, kLength).item<float>() / std::log(2.0);
}

// A character at a time; the state holds what was written before.
static std::string write(CharLstm& model, const Text& text, int64_t count) {
  groove::NoGradGuard no_grad;
  model.eval();
  auto next = groove::zeros({1, 1}, groove::kLong);  // a line's end
  CharLstm::State state;
  std::string written;
  for (int64_t i = 0; i < count; ++i) {
    auto [logits, last] = model.forward(next, state);
    next = groove::softmax(logits.select(1, 0) / 0.8, -1).multinomial(1);
    written += text.alphabet[static_cast<size_t>(next.item<int64_t>())];
    state = last;
  }
  return written;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 1500;
  defaults.batch = 16;
  const auto options = parse_options(
      argc, argv, "Trains an LSTM of 2 layers on the characters of Shakespeare.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    const Text text(options.data, kTest + kLongest + 1);
    CharLstm model(static_cast<int64_t>(text.alphabet.size()));
    train(model, text, options);
    std::printf("test loss %.3f bits a character\n",
                test_bits(model, text, options.bits ? 20 : 200));
    const int64_t characters = options.bits ? 20 : 400;
    std::printf("%s\n", write(model, text, characters).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lstm_text: %s\n", error.what());
    return 1;
  }
}
