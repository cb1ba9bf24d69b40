// Two networks and two optimizers; the judge is trained twice as often in some steps.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp maker(4, 16, 6), judge(6, 16, 1);
  optim::Adam maker_optimizer(maker->parameters(), optim::AdamOptions(2e-3));
  optim::Adam judge_optimizer(judge->parameters(), optim::AdamOptions(2e-3));
  const auto bce = [](const Tensor& logits, double wanted) {
    return groove::softplus(logits).mean() - wanted * logits.mean();
  };
  for (int step = 0; step < 60; ++step) {
    if (step == 24) steady();
    for (int turn = 0; turn < (step % 3 == 0 ? 2 : 1); ++turn) {
      auto real = groove::rand({8, 6});
      Tensor fake;
      {
        NoGradGuard no_grad;
        fake = maker(groove::randn({8, 4}));
      }
      judge_optimizer.zero_grad();
      auto loss = bce(judge(real), 1) + bce(judge(fake), 0);
      loss.backward();
      judge_optimizer.step();
      if (step % 5 == 0) print("judge", loss.item<double>());
    }
    maker_optimizer.zero_grad();
    auto loss = bce(judge(maker(groove::randn({8, 4}))), 1);
    loss.backward();
    maker_optimizer.step();
    if (step % 5 == 0) print("maker", loss.item<double>());
  }
  print_state(maker->parameters());
  print_state(judge->parameters());
}

[[maybe_unused]] const bool registered = add({"gan", run});

}  // namespace
}  // namespace groove::programs
