// Part of every tenth step runs under an EagerGuard, with what was computed before and after.
#include "groove/jit.h"
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < 120; ++step) {
    if (step == 40) steady();
    optimizer.zero_grad();
    auto out = net(groove::rand({3, 4}));
    if (step % 10 == 9) {
      jit::EagerGuard eager;
      auto scaled = out.detach() * 2;
      print("scaled", scaled.sum().item<double>());
    }
    auto loss = out.square().mean();
    loss.backward();
    optimizer.step();
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"eager_region", run});

}  // namespace
}  // namespace groove::programs
