// Noise at random levels is learnt, then a sample is made step by step without gradients.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(5, 24, 4);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(3e-3));
  constexpr int kLevels = 20;
  const auto betas = groove::linspace(1e-3, 0.2, kLevels);
  const auto kept = groove::cumprod(1 - betas, 0);
  for (int step = 0; step < 60; ++step) {
    auto clean = groove::rand({16, 4});
    auto level = groove::randint(kLevels, {16});
    auto share = kept.index_select(0, level).unsqueeze(1);
    auto noise = groove::randn_like(clean);
    auto noisy = share.sqrt() * clean + (1 - share).sqrt() * noise;
    auto time = level.to(groove::kFloat).unsqueeze(1) / kLevels;
    auto loss = groove::mse_loss(net(groove::cat({noisy, time}, 1)), noise);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  NoGradGuard no_grad;
  for (int sample = 0; sample < 12; ++sample) {
    if (sample == 5) steady();
    auto x = groove::randn({8, 4});
    for (int level = kLevels; level-- > 0;) {
      const double beta = betas[level].item<double>(), share = kept[level].item<double>();
      auto time = groove::full({8, 1}, static_cast<double>(level) / kLevels);
      auto noise = net(groove::cat({x, time}, 1));
      x = (x - noise * (beta / std::sqrt(1 - share))) / std::sqrt(1 - beta);
      if (level > 0) x = x + groove::randn({8, 4}) * std::sqrt(beta);
    }
    print("x", x);
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"diffusion", run});

}  // namespace
}  // namespace groove::programs
