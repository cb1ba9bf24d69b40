// Running statistics are changed by every training step and used in evaluation.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(1)), nn::BatchNorm2d(4),
                     nn::ReLU(), nn::Flatten(), nn::Linear(64, 3));
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0; step < 60; ++step) {
    if (step == 24) steady();
    net->train();
    optimizer.zero_grad();
    auto loss =
        nn::functional::cross_entropy(net->forward(groove::rand({4, 2, 4, 4})), labels(step, 4, 3));
    loss.backward();
    optimizer.step();
    if (step % 6 == 5) {
      net->eval();
      NoGradGuard no_grad;
      print("sum", net->forward(groove::ones({2, 2, 4, 4})).sum().item<double>());
    }
  }
  for (const Tensor& buffer : net->buffers()) print("buffer", buffer);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"batch_norm", run});

}  // namespace
}  // namespace groove::programs
