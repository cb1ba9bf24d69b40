// A classifier with Adam, its loss read every step.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(12, 24, 4);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 60; ++step) {
    if (step == 15) steady();
    auto x = groove::randn({16, 12});
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(x), labels(step, 16, 4));
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"mlp", run});

}  // namespace
}  // namespace groove::programs
