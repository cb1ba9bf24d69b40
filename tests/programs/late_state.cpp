// The optimizer makes its state in the first step, so that step is another one than the rest; a
// parameter group that joins later does the same again.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  nn::Linear late(2, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 100; ++step) {
    if (step == 20) steady();
    if (step == 50) optimizer.add_param_group({late->parameters()});
    optimizer.zero_grad();
    auto out = net(groove::rand({3, 4}));
    if (step >= 50) out = late(out);
    auto loss = nn::functional::cross_entropy(out, labels(step, 3, 2));
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print_state(net->parameters());
  print_state(late->parameters());
}

[[maybe_unused]] const bool registered = add({"late_state", run});

}  // namespace
}  // namespace groove::programs
