// LeNet over epochs whose last batch is ragged, with an evaluation after each epoch.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct LeNetImpl : nn::Module {
  LeNetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 4, 5)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(4, 8, 3)));
    fc1 = register_module("fc1", nn::Linear(32, 20));
    fc2 = register_module("fc2", nn::Linear(20, 10));
  }
  Tensor forward(Tensor x) {
    x = groove::max_pool2d(groove::relu(conv1(x)), 2);
    x = groove::max_pool2d(groove::relu(conv2(x)), 2);
    return fc2(groove::relu(fc1(x.view({x.size(0), 32}))));
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
GROOVE_MODULE(LeNet);

void run() {
  LeNet net;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  const auto images = groove::rand({44, 1, 16, 16});
  const auto targets = groove::randint(10, {44});
  for (int epoch = 0; epoch < 12; ++epoch) {
    if (epoch == 6) steady();
    net->train();
    for (std::int64_t begin = 0; begin < 44; begin += 8) {
      const std::int64_t count = std::min<std::int64_t>(8, 44 - begin);
      auto data = images.narrow(0, begin, count), target = targets.narrow(0, begin, count);
      optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(net(data), target);
      loss.backward();
      optimizer.step();
      if (begin == 0) print("loss", loss.item<double>());
    }
    NoGradGuard no_grad;
    net->eval();
    std::int64_t correct = 0;
    for (std::int64_t begin = 0; begin < 44; begin += 11)
      correct += net(images.narrow(0, begin, 11))
                     .argmax(1)
                     .eq(targets.narrow(0, begin, 11))
                     .sum()
                     .item<std::int64_t>();
    print("correct", static_cast<double>(correct));
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"lenet", run});

}  // namespace
}  // namespace groove::programs
