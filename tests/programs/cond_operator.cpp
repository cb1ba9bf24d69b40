// groove::cond in a training step: the way taken depends on a tensor that nobody looks at.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 70; ++step) {
    if (step == 25) steady();
    auto out = net(groove::randn({4, 4}));
    auto loss = groove::cond(
        out.mean() > 0.02, [&](const Tensor& y) { return (y.square() * 0.5).mean(); },
        [&](const Tensor& y) { return groove::log1p(y.abs()).mean() + net->second->bias.sum(); },
        std::make_tuple(out));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"cond_operator", run});

}  // namespace
}  // namespace groove::programs
