// groove::scan over the time steps of a recurrent net, trained, beside the same loop by hand.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Linear mix(12, 8), head(8, 2);
  std::vector<Tensor> parameters = mix->parameters();
  for (const Tensor& each : head->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  for (int step = 0; step < 50; ++step) {
    if (step == 20) steady();
    auto xs = groove::randn({7, 3, 4});
    auto [last, all] = groove::scan(
        [&](const Tensor& h, const Tensor& x) {
          auto next = groove::tanh(mix(groove::cat({h, x}, 1)));
          return std::make_pair(next, next.square().sum(1));
        },
        groove::zeros({3, 8}), xs);
    auto loss = nn::functional::cross_entropy(head(last), labels(step, 3, 2)) + all.mean() * 0.01;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"scan_operator", run});

}  // namespace
}  // namespace groove::programs
