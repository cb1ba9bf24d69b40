// Each batch goes to one of four experts, so the others have no gradient in that step.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  std::vector<Mlp> experts;
  std::vector<Tensor> parameters;
  for (int i = 0; i < 4; ++i) {
    experts.emplace_back(5, 8, 2);
    for (const Tensor& each : experts.back()->parameters()) parameters.push_back(each);
  }
  nn::Linear shared(5, 5);
  for (const Tensor& each : shared->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  Dice dice(9);
  for (int step = 0; step < 120; ++step) {
    if (step == 50) steady();
    auto& expert = experts[static_cast<std::size_t>(dice.below(4))];
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(expert(groove::relu(shared(groove::rand({4, 5})))),
                                              labels(step, 4, 2));
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"mixture_of_experts", run});

}  // namespace
}  // namespace groove::programs
