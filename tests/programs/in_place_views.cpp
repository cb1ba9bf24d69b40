// Writes through slices, transposes, rows and strides of one state, read as a whole afterwards.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto state = groove::zeros({6, 4});
  auto weight = groove::full({4}, 0.5).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  for (int step = 0; step < 80; ++step) {
    if (step == 25) steady();
    state[1] = groove::rand({4});
    state.narrow(0, 2, 2).mul_(0.5);
    state.slice(1, 0, 4, 2) += 0.25;
    state.t().select(0, 3).copy_(state.select(1, 0));
    state.view({2, 3, 4}).select(0, 1).transpose(0, 1)[2].fill_(0.125 * (step % 4));
    auto diagonal = state.narrow(0, 0, 4).diagonal();
    diagonal.add_(1.0);
    optimizer.zero_grad();
    auto loss = (state * weight).sum() + diagonal.mean();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print("state", state);
  print_state({weight});
}

[[maybe_unused]] const bool registered = add({"in_place_views", run});

}  // namespace
}  // namespace groove::programs
