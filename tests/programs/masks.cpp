// Boolean masks and nonzero: how many rows there are is known only when the values are.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  for (int step = 0; step < 80; ++step) {
    if (step == 30) steady();
    auto x = groove::rand({8, 4});
    auto hard = x.sum(1) > 1.8;
    auto rows = hard.nonzero().squeeze(1);
    optimizer.zero_grad();
    auto loss = net(x).square().mean();
    if (rows.size(0) > 0) loss = loss + net(x.index_select(0, rows)).abs().mean();
    loss = loss + net(x).masked_select(hard.unsqueeze(1)).sum() * 0.01;
    loss.backward();
    optimizer.step();
    print("rows", static_cast<double>(rows.size(0)));
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"masks", run});

}  // namespace
}  // namespace groove::programs
