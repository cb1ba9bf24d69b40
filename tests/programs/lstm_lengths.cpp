// A loop over an LSTMCell whose sequences have 5 to 20 steps.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::LSTMCell cell(8, 16);
  nn::Linear head(16, 3);
  std::vector<Tensor> parameters = cell->parameters();
  for (const Tensor& each : head->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(3e-3));
  Dice dice(3);
  for (int step = 0; step < 200; ++step) {
    if (step == 120) steady();
    const std::int64_t length = 5 + dice.below(16);
    auto sequence = groove::randn({length, 4, 8});
    auto h = groove::zeros({4, 16}), c = groove::zeros({4, 16});
    for (std::int64_t t = 0; t < length; ++t)
      std::tie(h, c) = cell->forward(sequence[t], std::make_tuple(h, c));
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(head(h), labels(length, 4, 3));
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"lstm_lengths", run});

}  // namespace
}  // namespace groove::programs
