// Modules, optimizers and loops of static objects.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "parts.h"

// errors that leave a static object end the program
void check(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

float train(int steps) {
  groove::manual_seed(3);
  groove::nn::Sequential net(groove::nn::Linear(3, 8), groove::nn::Tanh(),
                             groove::nn::Linear(8, 1));
  groove::optim::Adam optimizer(net->parameters(), groove::optim::AdamOptions(1e-2));
  const groove::Tensor x = groove::rand({16, 3}), y = x.sum(1, true);
  float last = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const groove::Tensor loss = groove::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<float>();
  }
  return last;
}

static groove::nn::Linear layer(3, 2);
static groove::optim::SGD optimizer(layer->parameters(), groove::optim::SGDOptions(0.5));

const float loss_before_main = train(500);

namespace {

struct AtEnd {
  ~AtEnd() {
    check(train(500) == loss_before_main, "a loop after main()");
    layer(groove::ones({1, 3})).sum().backward();
    optimizer.step();
    check(layer->bias.grad().sum().item<float>() == 2, "a static module after main()");
    std::puts("after main: right");
  }
} at_end;

}  // namespace
