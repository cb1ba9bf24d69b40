// Validation after each epoch decides when to stop, and the best weights are put back.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 10, 1);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(2e-2));
  const auto x = groove::randn({40, 4});
  const auto y = x.sum(1, true).tanh() + groove::randn({40, 1}) * 0.3;
  const auto x_test = groove::randn({20, 4});
  const auto y_test = x_test.sum(1, true).tanh();
  double best = 1e9;
  int bad = 0, epoch = 0;
  std::vector<Tensor> kept;
  for (; epoch < 40 && bad < 25; ++epoch) {
    if (epoch == 12) steady();
    for (std::int64_t begin = 0; begin < 40; begin += 8) {
      optimizer.zero_grad();
      auto loss = groove::mse_loss(net(x.narrow(0, begin, 8)), y.narrow(0, begin, 8));
      loss.backward();
      optimizer.step();
    }
    NoGradGuard no_grad;
    const double value = groove::mse_loss(net(x_test), y_test).item<double>();
    print("validation", value);
    if (value < best - 1e-4) {
      best = value;
      bad = 0;
      kept.clear();
      for (const Tensor& parameter : net->parameters()) kept.push_back(parameter.clone());
    } else {
      ++bad;
    }
  }
  print("epochs", epoch);
  NoGradGuard no_grad;
  auto parameters = net->parameters();
  for (std::size_t i = 0; i < kept.size(); ++i) parameters[i].copy_(kept[i]);
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"early_stopping", run});

}  // namespace
}  // namespace groove::programs
