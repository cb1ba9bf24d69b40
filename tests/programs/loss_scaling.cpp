// Steps whose gradients overflow are skipped and the scale is halved; otherwise it grows.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(5, 10, 3);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  double scale = 1024;
  int good = 0, skipped = 0;
  for (int step = 0; step < 200; ++step) {
    if (step == 80) steady();
    optimizer.zero_grad();
    auto x = groove::randn({4, 5});
    if (step % 9 == 4) x = x * 1e38;
    auto loss = nn::functional::cross_entropy(net(x), labels(step, 4, 3));
    (loss * scale).backward();
    auto is_finite = groove::ones({}, groove::kBool);
    for (const Tensor& parameter : net->parameters())
      is_finite = groove::logical_and(is_finite, groove::isfinite(parameter.grad()).all());
    if (!is_finite.item<bool>()) {
      scale *= 0.5;
      good = 0;
      ++skipped;
      continue;
    }
    {
      NoGradGuard no_grad;
      for (const Tensor& parameter : net->parameters()) parameter.mutable_grad().div_(scale);
    }
    optimizer.step();
    if (++good % 10 == 0) scale *= 2;
  }
  print("scale", scale);
  print("skipped", skipped);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"loss_scaling", run});

}  // namespace
}  // namespace groove::programs
