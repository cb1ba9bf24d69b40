// Truncated backpropagation: the state of a recurrent net is carried over, detached.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::GRUCell cell(3, 8);
  nn::Linear head(8, 1);
  std::vector<Tensor> parameters = cell->parameters();
  for (const Tensor& each : head->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(5e-3));
  auto h = groove::zeros({2, 8});
  for (int step = 0; step < 240; ++step) {
    if (step == 120) steady();
    auto total = groove::zeros({});
    for (int t = 0; t < 4; ++t) {
      auto x = groove::rand({2, 3});
      h = cell->forward(x, h);
      total = total + groove::mse_loss(head(h), x.sum(1, true));
    }
    optimizer.zero_grad();
    total.backward();
    optimizer.step();
    h = h.detach();
    if (step % 20 == 19) h = groove::zeros({2, 8});
    if (step % 10 == 0) print("total", total.item<double>());
  }
  print("h", h);
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"carried_state", run});

}  // namespace
}  // namespace groove::programs
