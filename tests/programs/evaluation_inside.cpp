// Every eighth step the test set is evaluated in between, without gradients.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 12, 3);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  const auto test = groove::rand({30, 4});
  const auto truth = labels(1, 30, 3);
  for (int step = 0; step < 100; ++step) {
    if (step == 40) steady();
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(groove::rand({6, 4})), labels(step, 6, 3));
    loss.backward();
    optimizer.step();
    if (step % 8 == 7) {
      NoGradGuard no_grad;
      net->eval();
      print("right", net(test).argmax(1).eq(truth).sum().item<double>());
      net->train();
    }
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"evaluation_inside", run});

}  // namespace
}  // namespace groove::programs
