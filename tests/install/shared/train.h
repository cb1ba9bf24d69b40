// The loop that all parts of the project run.
#pragma once

#include <groove/groove.h>

#include <vector>

inline std::vector<float> train(int steps) {
  groove::manual_seed(3);
  auto x = groove::randn({32, 8});
  auto y = groove::sin(x.sum(1, true));
  groove::nn::Linear first(8, 16), last(16, 1);  // compilers make arguments in different orders
  groove::nn::Sequential model(first, groove::nn::Tanh(), last);
  groove::optim::Adam optimizer(model->parameters(), groove::optim::AdamOptions(1e-2));
  std::vector<float> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = groove::mse_loss(model->forward(x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<float>());
  }
  return losses;
}
