// Twelve random sets of layers take turns, so that in each step other parameters have a gradient.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  std::vector<nn::Linear> layers;
  std::vector<Tensor> parameters;
  for (int i = 0; i < 8; ++i) {
    layers.emplace_back(4, 4);
    for (const Tensor& each : layers.back()->parameters()) parameters.push_back(each);
  }
  Dice dice(21);
  std::vector<std::vector<std::size_t>> sets(12);
  for (auto& set : sets) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (dice.below(2) == 0) set.push_back(i);
    if (set.empty()) set.push_back(0);
  }
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  for (int step = 0; step < 1200; ++step) {
    if (step == 900) steady();
    auto x = groove::rand({3, 4});
    auto y = x;
    for (const std::size_t i : sets[static_cast<std::size_t>(dice.below(12))])
      y = y + groove::tanh(layers[i](y));
    auto loss = nn::functional::mse_loss(y, x.flip(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"active_subsets", run});

}  // namespace
}  // namespace groove::programs
