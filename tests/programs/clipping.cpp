// The norm of all gradients is clipped, which reads it; later by value, which does not.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(6, 12, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 90; ++step) {
    if (step == 20) steady();
    optimizer.zero_grad();
    auto loss = net(groove::randn({4, 6}) * 3).square().mean();
    loss.backward();
    if (step < 60)
      print("norm", nn::utils::clip_grad_norm_(net->parameters(), 0.5));
    else
      nn::utils::clip_grad_value_(net->parameters(), 0.05);
    optimizer.step();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"clipping", run});

}  // namespace
}  // namespace groove::programs
