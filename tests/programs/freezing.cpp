// A layer is frozen for a while and trained again; in between its gradient is gone.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(5, 10, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.5));
  for (int step = 0; step < 120; ++step) {
    if (step == 20) steady();
    if (step == 50) {
      for (auto& parameter : net->first->parameters()) parameter.requires_grad_(false);
      net->first->zero_grad();
    }
    if (step == 80)
      for (auto& parameter : net->first->parameters()) parameter.requires_grad_(true);
    optimizer.zero_grad();
    auto loss = net(groove::randn({4, 5})).square().mean();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"freezing", run});

}  // namespace
}  // namespace groove::programs
