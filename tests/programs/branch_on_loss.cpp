// What a step does depends on its loss: three ways to go on.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  for (int step = 0; step < 140; ++step) {
    if (step == 60) steady();
    auto loss = (net(groove::randn({3, 4})) - 0.2).square().mean();
    const double value = loss.item<double>();
    if (value > 0.6)
      loss = groove::log1p(loss);
    else if (value < 0.15)
      loss = loss * 2 + net->second->weight.square().sum() * 0.01;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"branch_on_loss", run});

}  // namespace
}  // namespace groove::programs
