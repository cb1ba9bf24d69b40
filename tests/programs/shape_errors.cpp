// A shape that does not fit is thrown at the same line in compiled code, before anything changed.
#include <cstring>
#include <string>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 3);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < 160; ++step) {
    if (step == 60) steady();
    try {
      optimizer.zero_grad();
      auto out = net(groove::randn({2, step % 21 == 20 ? 5 : 4}));
      auto sum = out + groove::ones({step % 17 == 16 ? 7 : 3});
      auto loss = sum.square().mean();
      loss.backward();
      optimizer.step();
    } catch (const Error& error) {
      print(std::string(error.what(), std::strcspn(error.what(), "\n")));
    }
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"shape_errors", run});

}  // namespace
}  // namespace groove::programs
