// Two losses over one graph: the first backward keeps it for the second.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(5, 10, 4);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto out = net(groove::randn({6, 5}));
    auto first = nn::functional::cross_entropy(out, labels(step, 6, 4));
    auto second = out.square().mean() * 0.1;
    optimizer.zero_grad();
    first.backward({}, true);
    second.backward();
    optimizer.step();
    print("first", first.item<double>());
    print("second", second.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"two_losses", run});

}  // namespace
}  // namespace groove::programs
