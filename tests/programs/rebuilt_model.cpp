// The model is made anew for each of several runs of the same loop (cross-validation).
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  const auto x = groove::randn({24, 4});
  const auto y = x.sum(1).gt(0).to(groove::kLong);
  for (int fold = 0; fold < 6; ++fold) {
    if (fold == 2) steady();
    Mlp net(4, 8, 2);
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(2e-2));
    for (int step = 0; step < 80; ++step) {
      optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(net(x), y);
      loss.backward();
      optimizer.step();
    }
    NoGradGuard no_grad;
    print("right", net(x).argmax(1).eq(y).sum().item<double>());
    if (fold == 5) print_state(net->parameters());
  }
}

[[maybe_unused]] const bool registered = add({"rebuilt_model", run});

}  // namespace
}  // namespace groove::programs
