// Results are put into rows of a table, and parts of them are scaled in place, all with a gradient;
// the loss is looked at before it is followed, so that the history outlives the stretch that wrote.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto weight = groove::randn({4, 4}).mul_(0.4).requires_grad_();
  auto scale = groove::ones({2, 2}).requires_grad_();
  optim::Adam optimizer({weight, scale}, optim::AdamOptions(1e-2));
  auto ring = groove::zeros({3, 4});
  for (int step = 0; step < 240; ++step) {
    if (step == 150) steady();
    auto table = groove::zeros({4, 2, 4});
    auto state = groove::rand({2, 4});
    for (int t = 0; t < 4; ++t) {
      state = groove::tanh(state.mm(weight));
      table[t] = state;
    }
    auto row = table[1];
    table.narrow(0, 1, 2).narrow(2, 0, 2).mul_(scale);
    ring[step % 3] = groove::sin(ring[(step + 2) % 3] + state.sum(0));
    auto loss = (table * table).mean() + row.sum() * 0.01 + ring.square().mean();
    if (step % 10 == 0) print("loss", loss.item<double>());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    ring = ring.detach();
  }
  print("ring", ring);
  print_state({weight, scale});
}

[[maybe_unused]] const bool registered = add({"written_histories", run});

}  // namespace
}  // namespace groove::programs
