// No optimizer: parameters are changed under NoGradGuard and gradients zeroed in place.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto w = (groove::randn({6, 3}) * 0.3).requires_grad_(), b = groove::zeros({3}).requires_grad_();
  auto velocity_w = groove::zeros_like(w), velocity_b = groove::zeros_like(b);
  for (int step = 0; step < 200; ++step) {
    if (step == 80) steady();
    auto out = groove::matmul(groove::randn({8, 6}), w) + b;
    auto loss = nn::functional::cross_entropy(out, labels(step, 8, 3));
    loss.backward();
    {
      NoGradGuard no_grad;
      velocity_w.mul_(0.9).add_(w.grad());
      velocity_b.mul_(0.9).add_(b.grad());
      w.sub_(velocity_w, 0.05);
      b.sub_(velocity_b, 0.05);
      w.mutable_grad().zero_();
      b.mutable_grad().zero_();
    }
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print("velocity", velocity_w);
  print_state({w, b});
}

[[maybe_unused]] const bool registered = add({"hand_written_sgd", run});

}  // namespace
}  // namespace groove::programs
