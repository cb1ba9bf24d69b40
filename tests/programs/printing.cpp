// Tensors are printed to standard output on the way, whole and in program order.
#include <iostream>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(3, 6, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < 200; ++step) {
    if (step == 80) steady();
    optimizer.zero_grad();
    auto out = net(groove::rand({2, 3}));
    auto loss = out.square().mean();
    if (step % 7 == 3) std::cout << "out\n" << out << "\n" << std::flush;
    loss.backward();
    if (step % 10 == 9) std::cout << "gradient\n" << net->second->bias.grad() << "\n" << std::flush;
    optimizer.step();
    if (step % 5 == 0) std::cout << "loss " << loss.item<float>() << "\n" << std::flush;
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"printing", run});

}  // namespace
}  // namespace groove::programs
