// An optimizer written by the user: derived from Optimizer, with state of its own in a map.
#include <map>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct LionOptions : optim::OptimizerCloneableOptions<LionOptions> {
  double rate = 1e-3;
};

class Lion : public optim::Optimizer {
 public:
  explicit Lion(const std::vector<Tensor>& parameters)
      : Optimizer(parameters, std::make_unique<LionOptions>()) {}
  Tensor step(LossClosure closure) override {
    NoGradGuard no_grad;
    Tensor loss;
    if (closure) {
      AutoGradMode enable(true);
      loss = closure();
    }
    for (auto& group : param_groups()) {
      const double rate = static_cast<LionOptions&>(group.options()).rate;
      for (Tensor parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        auto& momentum = momenta_[parameter.unsafeGetTensorImpl()];
        if (!momentum.defined()) momentum = groove::zeros_like(parameter);
        auto update = (momentum * 0.9 + parameter.grad() * 0.1).sign();
        parameter.mul_(1 - rate * 0.01).sub_(update, rate);
        momentum.mul_(0.99).add_(parameter.grad(), 0.01);
      }
    }
    return loss;
  }
  std::map<void*, Tensor> momenta_;
};

void run() {
  Mlp net(5, 12, 3);
  Lion optimizer(net->parameters());
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(groove::randn({6, 5})), labels(step, 6, 3));
    loss.backward();
    optimizer.step(nullptr);
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  for (const Tensor& parameter : net->parameters())
    print("momentum", optimizer.momenta_[parameter.unsafeGetTensorImpl()]);
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"user_optimizer", run});

}  // namespace
}  // namespace groove::programs
