// A result keeps its gradient history across iterations and is used for a backward much later.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 1);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.02));
  Tensor pending;
  for (int step = 0; step < 90; ++step) {
    if (step == 30) steady();
    auto loss = net(groove::randn({3, 4})).square().mean();
    pending = pending.defined() ? pending + loss : loss;
    if (step % 3 != 2) continue;
    optimizer.zero_grad();
    pending.backward();
    optimizer.step();
    print("pending", pending.item<double>());
    pending = Tensor();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"kept_history", run});

}  // namespace
}  // namespace groove::programs
