// The gradient of a solver's result through all of its steps.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp field(3, 16, 3);
  optim::Adam optimizer(field->parameters(), optim::AdamOptions(5e-3));
  const auto target = groove::rand({8, 3});
  for (int step = 0; step < 40; ++step) {
    if (step == 15) steady();
    auto y = groove::full({8, 3}, 0.1) * static_cast<double>(step % 4);
    for (int t = 0; t < 6; ++t) {
      auto middle = y + 0.1 * field(y);
      y = y + 0.2 * field(middle);
    }
    auto loss = groove::mse_loss(y, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(field->parameters());
}

[[maybe_unused]] const bool registered = add({"neural_ode", run});

}  // namespace
}  // namespace groove::programs
