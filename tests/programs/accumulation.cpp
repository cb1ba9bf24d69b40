// Gradients of three micro-batches are added up before each step; the last group is smaller.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(6, 12, 3);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  auto total = groove::zeros({});
  for (int step = 0; step < 50; ++step) {
    if (step == 20) steady();
    const int parts = step % 8 == 7 ? 2 : 3;
    for (int part = 0; part < parts; ++part) {
      auto loss = nn::functional::cross_entropy(net(groove::randn({4, 6})), labels(part, 4, 3));
      (loss / parts).backward();
      total += loss.detach();
    }
    optimizer.step();
    optimizer.zero_grad();
  }
  print("total", total.item<double>());
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"accumulation", run});

}  // namespace
}  // namespace groove::programs
