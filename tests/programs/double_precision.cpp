// The default dtype is changed for part of the program.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto w = groove::zeros({4}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.1));
  for (int step = 0; step < 80; ++step) {
    if (step == 30) steady();
    auto target = groove::rand({4});
    auto loss = (w - target).square().sum() + groove::tensor(0.5) * w.abs().sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step == 55) groove::set_default_dtype(groove::kDouble);
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  groove::set_default_dtype(groove::kFloat);
  print_state({w});
}

[[maybe_unused]] const bool registered = add({"double_precision", run});

}  // namespace
}  // namespace groove::programs
