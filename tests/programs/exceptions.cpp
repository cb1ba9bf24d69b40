// The program's own exceptions in the middle of a step, also out of a scope with guards.
#include <stdexcept>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  auto seen = groove::zeros({});
  for (int step = 0; step < 160; ++step) {
    if (step == 70) steady();
    try {
      optimizer.zero_grad();
      auto out = net(groove::randn({2, 4}));
      {
        NoGradGuard no_grad;
        seen += out.sum();
        if (step % 10 == 7) throw std::runtime_error("no luck with step " + std::to_string(step));
      }
      auto loss = nn::functional::cross_entropy(out, labels(step, 2, 3));
      loss.backward();
      if (step % 10 == 9) throw std::runtime_error("skipped step " + std::to_string(step));
      optimizer.step();
    } catch (const std::runtime_error& error) {
      print(error.what());
    }
  }
  print("seen", seen.item<double>());
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"exceptions", run});

}  // namespace
}  // namespace groove::programs
