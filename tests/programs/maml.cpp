// Learning to learn: an inner step of gradient descent that the outer gradient goes through.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto w1 = (groove::randn({1, 10}) * 0.5).requires_grad_();
  auto b1 = groove::zeros({10}).requires_grad_();
  auto w2 = (groove::randn({10, 1}) * 0.5).requires_grad_();
  const auto forward = [](const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2) {
    return groove::matmul(groove::tanh(groove::matmul(x, w1) + b1), w2);
  };
  optim::SGD optimizer({w1, b1, w2}, optim::SGDOptions(0.01));
  for (int step = 0; step < 50; ++step) {
    if (step == 20) steady();
    optimizer.zero_grad();
    auto total = groove::zeros({});
    for (int task = 0; task < 2; ++task) {
      const double phase = 0.3 * (step % 5) + task;
      auto x = groove::rand({6, 1}) * 4 - 2;
      auto y = groove::sin(x + phase);
      auto inner = groove::mse_loss(forward(x, w1, b1, w2), y);
      auto slopes = autograd::grad({inner}, {w1, b1, w2}, {}, true, true);
      auto x2 = groove::rand({6, 1}) * 4 - 2;
      total = total + groove::mse_loss(forward(x2, w1 - 0.1 * slopes[0], b1 - 0.1 * slopes[1],
                                               w2 - 0.1 * slopes[2]),
                                       groove::sin(x2 + phase));
    }
    total.backward();
    optimizer.step();
    print("total", total.item<double>());
  }
  print_state({w1, b1, w2});
}

[[maybe_unused]] const bool registered = add({"maml", run});

}  // namespace
}  // namespace groove::programs
