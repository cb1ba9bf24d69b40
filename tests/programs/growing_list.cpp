// Results are kept in lists that grow: losses every step, hidden values and gradients sometimes.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  std::vector<Tensor> losses, hiddens, gradients;
  for (int step = 0; step < 80; ++step) {
    if (step == 30) steady();
    optimizer.zero_grad();
    auto hidden = groove::relu(net->first(groove::rand({3, 4})));
    auto loss = net->second(hidden).square().mean();
    losses.push_back(loss.detach());
    if (step % 5 == 4) hiddens.push_back(hidden.detach());
    loss.backward();
    if (step % 6 == 1) gradients.push_back(net->second->weight.grad().clone());
    optimizer.step();
  }
  print("losses", groove::stack(losses));
  for (const Tensor& each : hiddens) print("hidden", each);
  for (const Tensor& each : gradients) print("gradient", each);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"growing_list", run});

}  // namespace
}  // namespace groove::programs
