// optimizer.step(closure): the closure runs inside the library's call.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 1);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  const auto x = groove::randn({16, 4});
  const auto y = x.sum(1, true).sin();
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto inner = groove::mse_loss(net(x), y);
      inner.backward();
      return inner;
    });
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"lbfgs", run});

}  // namespace
}  // namespace groove::programs
