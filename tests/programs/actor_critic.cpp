// Actor and critic share a body; rollouts of fixed length are kept in vectors and stacked.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct BodyImpl : nn::Module {
  BodyImpl() {
    body = register_module("body", nn::Linear(2, 16));
    actor = register_module("actor", nn::Linear(16, 3));
    critic = register_module("critic", nn::Linear(16, 1));
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x) {
    auto hidden = groove::tanh(body(x));
    return {groove::log_softmax(actor(hidden), 1), critic(hidden).squeeze(1)};
  }
  nn::Linear body{nullptr}, actor{nullptr}, critic{nullptr};
};
GROOVE_MODULE(Body);

void run() {
  Body net;
  optim::RMSprop optimizer(net->parameters(), optim::RMSpropOptions(3e-3));
  auto state = groove::rand({4, 2});
  for (int update = 0; update < 40; ++update) {
    if (update == 15) steady();
    std::vector<Tensor> log_probabilities, values, rewards, entropies;
    for (int t = 0; t < 5; ++t) {
      auto [scores, value] = net->forward(state);
      auto action = scores.detach().exp().multinomial(1);
      log_probabilities.push_back(scores.gather(1, action).squeeze(1));
      entropies.push_back(-(scores.exp() * scores).sum(1));
      values.push_back(value);
      auto push = (action.squeeze(1) - 1).to(groove::kFloat) * 0.1;
      state = (state + groove::stack({push, -push}, 1)).clamp(-1, 1);
      rewards.push_back(1 - state.square().sum(1));
    }
    auto returns = std::get<1>(net->forward(state)).detach();
    std::vector<Tensor> targets(5);
    for (int t = 5; t-- > 0;) {
      returns = rewards[static_cast<std::size_t>(t)] + 0.9 * returns;
      targets[static_cast<std::size_t>(t)] = returns;
    }
    auto target = groove::stack(targets), value = groove::stack(values);
    auto advantage = (target - value).detach();
    auto loss = -(groove::stack(log_probabilities) * advantage).mean() +
                0.5 * groove::mse_loss(value, target) - 0.01 * groove::stack(entropies).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (update % 8 == 7) print("loss", loss.item<double>());
  }
  print("state", state);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"actor_critic", run});

}  // namespace
}  // namespace groove::programs
