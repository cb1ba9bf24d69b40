// Hooks on a tensor and on a parameter change gradients on their way.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  net->second->weight.register_hook([](const Tensor& gradient) { return gradient * 0.5; });
  double seen = 0;
  for (int step = 0; step < 80; ++step) {
    if (step == 25) steady();
    optimizer.zero_grad();
    auto hidden = groove::relu(net->first(groove::randn({3, 4})));
    hidden.register_hook([&seen](const Tensor& gradient) {
      seen += gradient.abs().sum().item<double>();
      return gradient.clamp(-0.05, 0.05);
    });
    auto loss = net->second(hidden).square().mean();
    loss.backward();
    optimizer.step();
  }
  print("seen", seen);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"gradient_hooks", run});

}  // namespace
}  // namespace groove::programs
