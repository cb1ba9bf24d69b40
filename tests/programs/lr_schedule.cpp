// A scheduler, warm-up by hand through param_groups, and weight decay switched off on the way.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(5, 10, 2);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(1e-2).weight_decay(0.05));
  optim::StepLR scheduler(optimizer, 15, 0.5);
  for (int step = 0; step < 80; ++step) {
    if (step == 30) steady();
    auto& options = static_cast<optim::AdamWOptions&>(optimizer.param_groups()[0].options());
    if (step < 10) options.lr(1e-3 * (step + 1));
    if (step == 50) options.weight_decay(0);
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(groove::randn({4, 5})), labels(step, 4, 2));
    loss.backward();
    optimizer.step();
    if (step >= 10) scheduler.step();
    if (step % 10 == 0) print("rate", options.lr());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"lr_schedule", run});

}  // namespace
}  // namespace groove::programs
