// REINFORCE on a walk along a line: episodes end when the walker falls off, so lengths vary.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp policy(2, 16, 2);
  optim::Adam optimizer(policy->parameters(), optim::AdamOptions(1e-2));
  for (int episode = 0; episode < 160; ++episode) {
    if (episode == 100) steady();
    std::vector<Tensor> log_probabilities;
    std::vector<double> rewards;
    double position = 0, velocity = 0.1;
    for (int t = 0; t < 30 && position > -1 && position < 1; ++t) {
      auto state = groove::tensor({position, velocity}).to(groove::kFloat).unsqueeze(0);
      auto log_probability = groove::log_softmax(policy(state), 1);
      auto action = log_probability.detach().exp().multinomial(1);
      log_probabilities.push_back(log_probability.gather(1, action).squeeze());
      velocity += action.item<std::int64_t>() == 0 ? -0.1 : 0.1;
      position += velocity;
      rewards.push_back(1.0 - position * position);
    }
    double value = 0;
    auto loss = groove::zeros({});
    for (std::size_t t = rewards.size(); t-- > 0;) {
      value = rewards[t] + 0.95 * value;
      loss = loss - log_probabilities[t] * value;
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    print("reward", value);
  }
  print_state(policy->parameters());
}

[[maybe_unused]] const bool registered = add({"reinforce", run});

}  // namespace
}  // namespace groove::programs
