// The program sets, adds to and clears gradients itself.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 80; ++step) {
    if (step == 25) steady();
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    {
      NoGradGuard no_grad;
      for (const Tensor& parameter : net->parameters()) {
        parameter.mutable_grad() = parameter.grad().clamp(-0.1, 0.1);
        parameter.mutable_grad().add_(parameter, 1e-3);
      }
    }
    optimizer.step();
    for (const Tensor& parameter : net->parameters()) parameter.mutable_grad() = Tensor();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"gradients_by_hand", run});

}  // namespace
}  // namespace groove::programs
