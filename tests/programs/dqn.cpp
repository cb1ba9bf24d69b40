// Q-learning with a replay buffer in tensors, a target network copied every few steps, and steps
// that explore.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp online(3, 16, 2), target(3, 16, 2);
  const auto copy = [&] {
    NoGradGuard no_grad;
    const auto from = online->parameters(), to = target->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
  };
  copy();
  optim::Adam optimizer(online->parameters(), optim::AdamOptions(2e-3));
  constexpr std::int64_t kCapacity = 64, kBatch = 8;
  auto states = groove::zeros({kCapacity, 3}), nexts = groove::zeros({kCapacity, 3});
  auto actions = groove::zeros({kCapacity}, groove::kLong);
  auto rewards = groove::zeros({kCapacity});
  auto state = groove::zeros({3});
  Dice dice(5);
  for (std::int64_t step = 0; step < 160; ++step) {
    if (step == 80) steady();
    std::int64_t action;
    {
      NoGradGuard no_grad;
      action = dice.uniform() < 0.2 ? dice.below(2)
                                    : online(state.unsqueeze(0)).argmax(1).item<std::int64_t>();
    }
    auto next = groove::tanh(state * 0.9 + (action == 0 ? -0.2 : 0.3) + groove::randn({3}) * 0.05);
    const std::int64_t place = step % kCapacity;
    states[place] = state;
    nexts[place] = next;
    actions[place] = action;
    rewards[place] = next.sum().neg().abs().neg();
    state = next;
    if (step < kBatch) continue;
    auto rows = groove::randint(std::min(step + 1, kCapacity), {kBatch});
    Tensor wanted;
    {
      NoGradGuard no_grad;
      auto best = std::get<0>(target(nexts.index_select(0, rows)).max(1));
      wanted = rewards.index_select(0, rows) + 0.9 * best;
    }
    auto values = online(states.index_select(0, rows))
                      .gather(1, actions.index_select(0, rows).unsqueeze(1))
                      .squeeze(1);
    auto loss = groove::mse_loss(values, wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) copy();
    if (step % 20 == 0) print("loss", loss.item<double>());
  }
  print("states", states);
  print("rewards", rewards);
  print_state(online->parameters());
  print_state(target->parameters());
}

[[maybe_unused]] const bool registered = add({"dqn", run});

}  // namespace
}  // namespace groove::programs
