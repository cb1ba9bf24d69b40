// A character model with embedding and GRU that then writes, one character at a time.
#include <string>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

constexpr std::int64_t kCharacters = 11, kWidth = 16, kLength = 12;

struct ModelImpl : nn::Module {
  ModelImpl() {
    table = register_module("table", nn::Embedding(kCharacters, kWidth));
    rnn = register_module("rnn", nn::GRU(nn::GRUOptions(kWidth, kWidth).batch_first(true)));
    head = register_module("head", nn::Linear(kWidth, kCharacters));
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& index, const Tensor& state) {
    auto [out, next] = rnn->forward(table(index), state);
    return {head(out), next};
  }
  nn::Embedding table{nullptr};
  nn::GRU rnn{nullptr};
  nn::Linear head{nullptr};
};
GROOVE_MODULE(Model);

void run() {
  Model model;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(5e-3));
  std::vector<std::int64_t> text;
  for (std::int64_t i = 0; i < 400; ++i) text.push_back((i * i + i / 3) % kCharacters);
  const auto characters = groove::tensor(text);
  const auto window = groove::arange(kLength);
  for (int step = 0; step < 40; ++step) {
    if (step == 12) steady();
    auto index = groove::randint(400 - kLength - 1, {4, 1}) + window;
    auto input = characters.index({index}), target = characters.index({index + 1});
    optimizer.zero_grad();
    auto logits = std::get<0>(model->forward(input, groove::zeros({1, 4, kWidth})));
    auto loss = nn::functional::cross_entropy(logits.view({-1, kCharacters}), target.view({-1}));
    loss.backward();
    optimizer.step();
    if (step % 10 == 9) print("loss", loss.item<double>());
  }
  NoGradGuard no_grad;
  model->eval();
  std::string written;
  auto state = groove::zeros({1, 1, kWidth});
  auto token = groove::zeros({1, 1}, groove::kLong);
  for (int i = 0; i < 60; ++i) {
    auto [logits, next] = model->forward(token, state);
    state = next;
    token = groove::softmax(logits.select(1, 0), -1).multinomial(1);
    written += static_cast<char>('a' + token.item<std::int64_t>());
  }
  print(written);
  print_state(model->parameters());
}

[[maybe_unused]] const bool registered = add({"char_lm", run});

}  // namespace
}  // namespace groove::programs
