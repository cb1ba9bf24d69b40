// Dropout in training, none in evaluation, switched back and forth.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Sequential net(nn::Linear(6, 24), nn::ReLU(), nn::Dropout(0.3), nn::Linear(24, 3));
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  const auto test = groove::rand({10, 6});
  for (int step = 0; step < 80; ++step) {
    if (step == 32) steady();
    net->train();
    optimizer.zero_grad();
    auto loss =
        nn::functional::cross_entropy(net->forward(groove::rand({6, 6})), labels(step, 6, 3));
    loss.backward();
    optimizer.step();
    if (step % 4 == 3) {
      net->eval();
      NoGradGuard no_grad;
      print("sum", net->forward(test).sum().item<double>());
    }
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"dropout", run});

}  // namespace
}  // namespace groove::programs
