// The norm of a gradient is part of the loss: a backward pass through a backward pass.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Linear first(4, 12), second(12, 1);
  std::vector<Tensor> parameters = first->parameters();
  for (const Tensor& each : second->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(5e-3));
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto x = groove::randn({8, 4}).requires_grad_();
    auto out = second(groove::tanh(first(x)));
    auto slope = autograd::grad({out.sum()}, {x}, {}, true, true)[0];
    auto penalty = (slope.norm(2, {1}) - 1).square().mean();
    auto loss = out.mean() + penalty;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 6 == 0) print("penalty", penalty.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"gradient_penalty", run});

}  // namespace
}  // namespace groove::programs
