// A function with a gradient of its own, whose context keeps a number besides tensors.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct Straight : autograd::Function<Straight> {
  static Tensor forward(autograd::AutogradContext* context, Tensor x, double scale) {
    context->save_for_backward({x});
    context->saved_data["scale"] = scale;
    return groove::round(x * scale) / scale;
  }
  static autograd::tensor_list backward(autograd::AutogradContext* context,
                                        autograd::tensor_list gradients) {
    auto x = context->get_saved_variables()[0];
    const double scale = context->saved_data["scale"].toDouble();
    return {gradients[0] * (x.abs() < scale).to(groove::kFloat), Tensor()};
  }
};

void run() {
  Mlp net(5, 12, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto hidden = Straight::apply(groove::tanh(net->first(groove::randn({6, 5}))), 4.0);
    auto loss = nn::functional::cross_entropy(net->second(hidden), labels(step, 6, 3));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"custom_function", run});

}  // namespace
}  // namespace groove::programs
