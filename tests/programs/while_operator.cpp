// groove::while_loop: Newton's iteration until all have settled, inside a training step.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto weight = (groove::rand({6}) + 0.5).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto target = groove::rand({6}) + 1;
    auto root =
        groove::while_loop([&](const Tensor& x) { return (x * x - target).abs().amax() > 1e-4; },
                           [&](const Tensor& x) { return 0.5 * (x + target / x); },
                           groove::ones({6}), WhileLoopOptions{40});
    auto loss = (weight * root - 1).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print_state({weight});
}

[[maybe_unused]] const bool registered = add({"while_operator", run});

}  // namespace
}  // namespace groove::programs
