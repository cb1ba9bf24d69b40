// The loss is read before backward, and gradients are read after it.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 80; ++step) {
    if (step == 25) steady();
    auto loss = nn::functional::cross_entropy(net(groove::randn({3, 4})), labels(step, 3, 2));
    print("loss", loss.item<double>());
    optimizer.zero_grad();
    loss.backward();
    print("slope", net->first->weight.grad().abs().max().item<double>());
    optimizer.step();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"backward_after_read", run});

}  // namespace
}  // namespace groove::programs
