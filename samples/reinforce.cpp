// REINFORCE (Williams 1992) with a learned baseline: a policy learns to balance a pole on a cart by
// playing whole episodes, which are as long as the pole stands.
#include <groove/groove.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kMostMoves = 500;
constexpr float kDiscount = 0.99F;

// Cart and pole (Barto, Sutton and Anderson 1983), in Euler steps of 0.02 s.
struct CartPole {
  std::array<float, 4> state;  // position, its speed, angle, its speed

  explicit CartPole(std::mt19937_64& random) {
    for (float& value : state) value = static_cast<float>(random() % 1001) * 1e-4F - 0.05F;
  }

  groove::Tensor observation() const {
    return groove::tensor(std::vector<float>(state.begin(), state.end())).unsqueeze(0);
  }

  // Pushes the cart to one side; false when it has left the track or the pole has fallen.
  bool push(bool is_right) {
    constexpr float kGravity = 9.8F, kMass = 1.1F, kPoleMass = 0.1F, kHalfLength = 0.5F;
    constexpr float kSeconds = 0.02F;
    auto& [place, speed, angle, turn] = state;
    const float sine = std::sin(angle), cosine = std::cos(angle);
    const float pull =
        ((is_right ? 10.F : -10.F) + kPoleMass * kHalfLength * turn * turn * sine) / kMass;
    const float turning = (kGravity * sine - cosine * pull) /
                          (kHalfLength * (4.F / 3 - kPoleMass * cosine * cosine / kMass));
    const float speeding = pull - kPoleMass * kHalfLength * turning * cosine / kMass;
    place += kSeconds * speed;
    speed += kSeconds * speeding;
    angle += kSeconds * turn;
    turn += kSeconds * turning;
    return std::abs(place) < 2.4F && std::abs(angle) < 0.2095F;
  }
};

struct Policy : nn::Module {
  Policy() {
    body = register_module("body", nn::Linear(4, 64));
    actor = register_module("actor", nn::Linear(64, 2));
    critic = register_module("critic", nn::Linear(64, 1));
  }

  // Logarithms of the two moves' probabilities, and what the episode is expected to bring.
  std::pair<groove::Tensor, groove::Tensor> forward(const groove::Tensor& observation) {
    auto x = groove::relu(body->forward(observation));
    return {groove::log_softmax(actor->forward(x), 1), critic->forward(x)};
  }

  nn::Linear body{nullptr}, actor{nullptr}, critic{nullptr};
};

struct Episode {
  std::vector<groove::Tensor> chosen;  // logarithms of the moves' probabilities
  std::vector<groove::Tensor> values;
  int64_t moves() const { return static_cast<int64_t>(chosen.size()); }
};

static Episode play(Policy& policy, std::mt19937_64& random) {
  CartPole game(random);
  Episode episode;
  for (bool stands = true; stands && episode.moves() < kMostMoves;) {
    auto [scores, value] = policy.forward(game.observation());
    auto move = scores.detach().exp().multinomial(1);
    episode.chosen.push_back(scores.gather(1, move).flatten());
    episode.values.push_back(value.flatten());
    stands = game.push(move.item<int64_t>() == 1);
  }
  return episode;
}

// The discounted sum of what is still to come after each move, 1 for each; near 1 in all.
static groove::Tensor returns_of(const Episode& episode) {
  std::vector<float> returns(episode.chosen.size());
  float sum = 0;
  for (size_t move = returns.size(); move-- > 0;) {
    sum = 1 + kDiscount * sum;
    returns[move] = sum * (1 - kDiscount);
  }
  return groove::tensor(returns);
}

static groove::Tensor loss_of(const Episode& episode) {
  auto returns = returns_of(episode);
  auto values = groove::cat(episode.values);
  auto advantage = returns - values.detach();
  auto policy_loss = -(groove::cat(episode.chosen) * advantage).sum();
  return policy_loss + groove::smooth_l1_loss(values, returns, groove::Reduction::Sum);
}

static double mean_moves(Policy& policy, std::mt19937_64& random) {
  groove::NoGradGuard no_grad;
  constexpr int kGames = 50;
  int64_t moves = 0;
  for (int game = 0; game < kGames; ++game) moves += play(policy, random).moves();
  return static_cast<double>(moves) / kGames;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 500;
  defaults.batch = 1;
  const auto options = parse_options(
      argc, argv, "Learns to balance a pole on a cart; a step plays --batch episodes.", defaults);
  try {
    groove::manual_seed(options.seed);
    std::mt19937_64 random(options.seed);
    Policy policy;
    groove::optim::Adam optimizer(policy.parameters(), groove::optim::AdamOptions(1e-2));
    const double before = mean_moves(policy, random);

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      std::vector<groove::Tensor> losses;
      for (int64_t i = 0; i < options.batch; ++i) losses.push_back(loss_of(play(policy, random)));
      optimizer.zero_grad();
      auto loss = groove::stack(losses).mean();
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();
    std::printf("the pole stands for %.1f moves of %lld; %.1f before\n", mean_moves(policy, random),
                static_cast<long long>(kMostMoves), before);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reinforce: %s\n", error.what());
    return 1;
  }
}
