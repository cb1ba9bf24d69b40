// An exponential average of the weights, changed in place after every step and used to evaluate.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2), average(4, 8, 2);
  {
    NoGradGuard no_grad;
    for (std::size_t i = 0; i < net->parameters().size(); ++i)
      average->parameters()[i].copy_(net->parameters()[i]);
  }
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  const auto test = groove::rand({5, 4});
  for (int step = 0; step < 70; ++step) {
    if (step == 30) steady();
    optimizer.zero_grad();
    auto loss = net(groove::rand({3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    NoGradGuard no_grad;
    const auto from = net->parameters(), to = average->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].mul_(0.95).add_(from[i], 0.05);
    if (step % 10 == 9) print("test", average(test).sum().item<double>());
  }
  print_state(net->parameters());
  print_state(average->parameters());
}

[[maybe_unused]] const bool registered = add({"weight_averages", run});

}  // namespace
}  // namespace groove::programs
