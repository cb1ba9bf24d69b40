// Every iteration writes another row of a history, and reads a window of it that moves.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto history = groove::zeros({8, 3});
  auto weight = groove::ones({3}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  for (int step = 0; step < 100; ++step) {
    if (step == 40) steady();
    optimizer.zero_grad();
    auto out = weight * groove::rand({3});
    history[step % 8] = out.detach();
    auto recent = history.narrow(0, step % 5, 3);
    auto loss = (out.sum() + history.mean() + recent.sum()).square();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print("history", history);
  print_state({weight});
}

[[maybe_unused]] const bool registered = add({"ring_buffer", run});

}  // namespace
}  // namespace groove::programs
