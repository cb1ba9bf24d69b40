// The optimizer's state is read every few steps, and its momenta are rewritten by the program.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  const auto state = [&](const Tensor& parameter) -> optim::AdamParamState& {
    return static_cast<optim::AdamParamState&>(
        *optimizer.state().at(parameter.unsafeGetTensorImpl()));
  };
  for (int step = 0; step < 240; ++step) {
    if (step == 110) steady();
    optimizer.zero_grad();
    auto loss = net(groove::rand({3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    if (step % 10 == 9) {
      print("step", static_cast<double>(state(net->first->weight).step()));
      print("average", state(net->first->weight).exp_avg());
    }
    if (step % 25 == 24) {
      NoGradGuard no_grad;
      for (const Tensor& parameter : net->parameters()) {
        state(parameter).exp_avg().mul_(0.5);
        state(parameter).exp_avg_sq(state(parameter).exp_avg_sq() * 2);
      }
    }
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"optimizer_state", run});

}  // namespace
}  // namespace groove::programs
