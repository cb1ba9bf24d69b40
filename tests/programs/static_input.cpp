// One input tensor is filled through its pointer in every iteration, another one between two ops.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  auto input = groove::zeros({3, 4}), mask = groove::ones({3, 2});
  float* const memory = input.data_ptr<float>();
  float* const mask_memory = mask.data_ptr<float>();
  for (int step = 0; step < 90; ++step) {
    if (step == 20) steady();
    for (int i = 0; i < 12; ++i) memory[i] = static_cast<float>((step * 5 + i) % 7) * 0.25f - 0.5f;
    optimizer.zero_grad();
    auto out = net(input);
    if (step >= 30) mask_memory[step % 6] = static_cast<float>(step % 3);
    auto loss = (out * mask).tanh().mean();
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"static_input", run});

}  // namespace
}  // namespace groove::programs
