// A small transformer over batches whose length varies: three lengths, then more of them.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  constexpr std::int64_t kHeads = 2, kWidth = 16;
  nn::Embedding table(12, kWidth);
  nn::LayerNorm norm(nn::LayerNormOptions({kWidth}));
  nn::Linear qkv(kWidth, 3 * kWidth), out(kWidth, kWidth), head(kWidth, 12);
  std::vector<Tensor> parameters;
  for (const auto& part : {table->parameters(), norm->parameters(), qkv->parameters(),
                           out->parameters(), head->parameters()})
    parameters.insert(parameters.end(), part.begin(), part.end());
  optim::AdamW optimizer(parameters, optim::AdamWOptions(3e-3));
  Dice dice(2);
  for (int step = 0; step < 90; ++step) {
    if (step == 45) steady();
    const std::int64_t length = 4 + dice.below(step < 30 ? 3 : 6);
    auto tokens = groove::randint(12, {3, length + 1});
    auto input = tokens.narrow(1, 0, length), target = tokens.narrow(1, 1, length);
    auto x = table(input);
    auto parts = qkv(norm(x)).split(kWidth, 2);
    const auto heads = [&](const Tensor& part) {
      return part.view({3, length, kHeads, kWidth / kHeads}).transpose(1, 2);
    };
    auto scores = heads(parts[0]).matmul(heads(parts[1]).transpose(-2, -1)) / std::sqrt(8.0);
    auto mask = groove::ones({length, length}).triu(1).to(groove::kBool);
    auto weights = groove::softmax(scores.masked_fill(mask, -1e9), -1);
    auto mixed = weights.matmul(heads(parts[2])).transpose(1, 2).contiguous();
    x = x + out(mixed.view({3, length, kWidth}));
    auto loss = nn::functional::cross_entropy(head(x).view({-1, 12}), target.reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"attention", run});

}  // namespace
}  // namespace groove::programs
