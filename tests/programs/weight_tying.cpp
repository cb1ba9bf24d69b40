// One table is embedding and output layer: its gradient comes from both.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto table = (groove::randn({9, 8}) * 0.3).requires_grad_();
  nn::Linear mix(8, 8);
  std::vector<Tensor> parameters = mix->parameters();
  parameters.push_back(table);
  optim::AdamW optimizer(parameters, optim::AdamWOptions(1e-2));
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto tokens = groove::randint(0, 9, {3, 6});
    auto x = groove::embedding(table, tokens);
    auto y = groove::tanh(mix(x)) + x;
    auto logits = groove::matmul(y, table.t());
    auto loss = nn::functional::cross_entropy(logits.view({18, 9}), tokens.view({18}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 6 == 0) print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"weight_tying", run});

}  // namespace
}  // namespace groove::programs
