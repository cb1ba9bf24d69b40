// Counters on the host and in tensors, a table of confusions written at indices.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  auto confusion = groove::zeros({3, 3}, groove::kLong);
  auto running = groove::zeros({});
  double best = 0;
  for (int step = 0; step < 90; ++step) {
    if (step == 30) steady();
    auto x = groove::randn({6, 4});
    auto target = x.argmax(1).clamp(0, 2);
    auto out = net(x);
    auto loss = nn::functional::cross_entropy(out, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    auto guess = out.detach().argmax(1);
    confusion.view({9}).scatter_add_(0, target * 3 + guess, groove::ones({6}, groove::kLong));
    running.mul_(0.9).add_(loss.detach(), 0.1);
    const double right = guess.eq(target).to(groove::kFloat).mean().item<double>();
    if (right > best) {
      best = right;
      print("best", best);
    }
  }
  print("running", running.item<double>());
  print("confusion", confusion);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"metrics", run});

}  // namespace
}  // namespace groove::programs
