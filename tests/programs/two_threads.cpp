// Two threads train a model each, at the same time, with the same code.
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void train(Mlp net, double shift, int steps, std::vector<double>& losses) {
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    auto x = (labels(step, 12, 7).to(groove::kFloat).view({3, 4}) - shift) * 0.3;
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(x), labels(step, 3, 2));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
}

void run() {
  std::vector<Mlp> nets;
  for (int i = 0; i < 2; ++i) nets.emplace_back(4, 8, 2);
  std::vector<std::vector<double>> losses(2);
  const auto both = [&](int steps) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back(train, nets[i], static_cast<double>(i), steps, std::ref(losses[i]));
    for (auto& thread : threads) thread.join();
  };
  both(40);
  steady();
  both(1500);  // while the one's loop is compiled the other waits, for tens of steps
  for (const auto& each : losses)
    for (const double loss : each) print("loss", loss);
  for (auto& net : nets) print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"two_threads", run});

}  // namespace
}  // namespace groove::programs
