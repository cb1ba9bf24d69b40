// An input is changed through its pointer after the forward pass has read it and before the
// backward pass reads it again: what backward reads is what is there then.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto weight = groove::ones({4}).requires_grad_();
  auto input = groove::ones({4});
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  float* const memory = input.data_ptr<float>();
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    memory[0] = static_cast<float>(step % 5);
    optimizer.zero_grad();
    auto loss = (weight * input).square().sum();
    memory[step % 4] = 0.5f;
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print_state({weight});
}

[[maybe_unused]] const bool registered = add({"pointer_twice", run});

}  // namespace
}  // namespace groove::programs
