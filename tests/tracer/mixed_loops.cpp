// Loops in mixed precision: operands converted by themselves, scaled losses, steps that are left
// out.
#include <groove/groove.h>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

// Products in bfloat16, the loss outside, a mode that is off in every third step.
void short_products(int steps, Log& log) {
  auto first = (groove::randn({6, 8}) * 0.3).requires_grad_();
  auto second = (groove::randn({8, 2}) * 0.3).requires_grad_();
  groove::optim::Adam optimizer({first, second}, groove::optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    const Tensor x = groove::randn({5, 6});
    Tensor y;
    {
      const groove::amp::Autocast autocast(step % 3 != 2);
      y = x.mm(first).relu().mm(second);
    }
    const Tensor loss = groove::mse_loss(y.to(kFloat), x.slice(1, 0, 2));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameter(first);
  log.parameter(second);
}

// A network whose gradients overflow now and then.
void scaled_losses(int steps, Log& log) {
  groove::nn::Sequential net(groove::nn::Linear(4, 8),
                             groove::nn::LayerNorm(groove::nn::LayerNormOptions({8})),
                             groove::nn::Tanh(), groove::nn::Linear(8, 1));
  groove::optim::SGD optimizer(net->parameters(), groove::optim::SGDOptions(0.05).momentum(0.9));
  groove::amp::GradScaler scaler(
      groove::amp::GradScalerOptions().init_scale(1024).growth_interval(7));
  for (int step = 0; step < steps; ++step) {
    const Tensor x = groove::randn({6, 4}) * (step % 17 == 16 ? 1e38 : 1.0);
    optimizer.zero_grad();
    Tensor loss;
    {
      const groove::amp::Autocast autocast;
      loss = groove::mse_loss(net->forward(x), x.sum(1, true));
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    groove::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    log.integer(scaler.step(optimizer));
    scaler.update();
    log.number(scaler.get_scale());
  }
  for (const Tensor& parameter : net->parameters()) log.parameter(parameter);
}

}  // namespace

const std::vector<Loop>& mixed_loops() {
  static const std::vector<Loop> loops = {
      {"short_products", short_products},
      {"scaled_losses", scaled_losses},
  };
  return loops;
}

}  // namespace groove::testing
