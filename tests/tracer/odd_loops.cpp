// Loops that change what is no value: gradients set by hand, flags, user-written optimizers, derivatives
// of derivatives.
#include <groove/groove.h>

#include <cmath>
#include <map>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"
#include "tests/tracer/pair_net.h"

namespace groove::testing {
namespace {

void gradients_dropped_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  const std::vector<Tensor> parameters = net->parameters();
  for (int step = 0; step < steps; ++step) {
    auto loss = loss_of(net, step);
    loss.backward();
    {
      NoGradGuard no_grad;
      for (const Tensor& parameter : parameters) {
        Tensor target = parameter;
        target -= parameter.grad() * (0.1 / (1 + step));
        parameter.mutable_grad() = Tensor();
      }
    }
    log.number(loss.item<double>());
  }
  log.parameters(parameters);
}

void gradients_zeroed_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  const std::vector<Tensor> parameters = net->parameters();
  for (int step = 0; step < steps; ++step) {
    for (const Tensor& parameter : parameters)
      if (parameter.grad().defined()) parameter.grad().zero_();
    auto loss = loss_of(net, step);
    loss.backward();
    for (const Tensor& parameter : parameters) parameter.data().sub_(parameter.grad(), 0.1);
    log.number(loss.item<double>());
  }
  log.parameters(parameters);
}

void gradients_replaced_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.5));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    for (const Tensor& parameter : net->parameters())
      parameter.mutable_grad() = parameter.grad() * 0.5 + 0.01;
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

// In some steps only, and through a reference that is kept.
void gradients_sometimes_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  Tensor& kept = net->first->bias.mutable_grad();
  const auto fixed = groove::full({5}, 0.25);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    if (step % 4 == 3) kept = fixed;
    if (step % 5 == 4) net->second->bias.mutable_grad().reset();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

// As people write Adam themselves.
void own_adam(int steps, Log& log) {
  Pair net(4, 5, 2);
  std::map<std::string, Tensor> mean, square;
  for (const auto& item : net->named_parameters()) {
    mean[item.key()] = groove::zeros_like(item.value());
    square[item.key()] = groove::zeros_like(item.value());
  }
  for (int step = 0; step < steps; ++step) {
    net->zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    NoGradGuard no_grad;
    const double first = 1 - std::pow(0.9, step + 1), second = 1 - std::pow(0.99, step + 1);
    for (auto& item : net->named_parameters()) {
      const Tensor grad = item.value().grad();
      Tensor &m = mean[item.key()], &v = square[item.key()];
      m.mul_(0.9).add_(grad, 0.1);
      v.mul_(0.99).addcmul_(grad, grad, 0.01);
      item.value().sub_(m / first / ((v / second).sqrt() + 1e-8) * 0.01);
    }
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

void zeros_instead_of_none(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad(step % 7 == 6);
    auto loss = loss_of(net, step);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

void clipped(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step) * 3;
    loss.backward();
    log.number(nn::utils::clip_grad_norm_(net->parameters(), 0.5));
    nn::utils::clip_grad_value_(net->parameters(), 0.2);
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

void averages(int steps, Log& log) {
  Pair net(4, 5, 2), average(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    optimizer.step();
    NoGradGuard no_grad;
    const auto from = net->parameters(), to = average->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].mul_(0.9).add_(from[i], 0.1);
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
  log.parameters(average->parameters());
}

void frozen_for_a_while(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const Tensor& parameter : net->first->parameters()) parameter.requires_grad_(epoch != 1);
    for (int step = 0; step < steps / 2; ++step) {
      optimizer.zero_grad();
      auto loss = loss_of(net, step);
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    }
  }
  log.parameters(net->parameters());
}

void frozen_in_every_step(int steps, Log& log) {
  Pair maker(4, 5, 3), judge(3, 4, 1);
  optim::SGD maker_optimizer(maker->parameters(), optim::SGDOptions(0.1));
  optim::SGD judge_optimizer(judge->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    for (const Tensor& parameter : judge->parameters()) parameter.requires_grad_(true);
    judge_optimizer.zero_grad();
    auto judge_loss = (judge(maker(groove::randn({4, 4})).detach()) - 1).square().mean();
    judge_loss.backward();
    judge_optimizer.step();
    for (const Tensor& parameter : judge->parameters()) parameter.requires_grad_(false);
    maker_optimizer.zero_grad();
    auto maker_loss = judge(maker(groove::randn({4, 4}))).square().mean();
    maker_loss.backward();
    maker_optimizer.step();
    log.number(judge_loss.item<double>() + maker_loss.item<double>());
  }
  log.parameters(maker->parameters());
  log.parameters(judge->parameters());
}

void frozen_half_way(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const auto x = groove::randn({3, 4});
    auto loss = net(x).square().mean();
    for (const Tensor& parameter : net->first->parameters()) parameter.requires_grad_(false);
    loss = loss + net(x * 2).mean();
    for (const Tensor& parameter : net->first->parameters()) parameter.requires_grad_(true);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

// The gradient with respect to data, and a second derivative through it.
void gradient_penalty(int steps, Log& log) {
  Pair judge(4, 5, 1);
  optim::Adam optimizer(judge->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    auto real = groove::randn({3, 4}), fake = groove::rand({3, 4});
    auto mix = groove::rand({3, 1});
    auto between = (mix * real + (1 - mix) * fake).requires_grad_(true);
    auto score = judge(between);
    auto slope = autograd::grad({score}, {between}, {groove::ones_like(score)}, true, true)[0];
    auto penalty = (slope.norm(2, {1}) - 1).square().mean();
    auto loss = judge(fake).mean() - judge(real).mean() + 10 * penalty;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(judge->parameters());
}

void inner_steps(int steps, Log& log) {
  auto weight = groove::randn({4, 2}).requires_grad_();
  auto scale = groove::ones({}).requires_grad_();
  optim::SGD optimizer({weight, scale}, optim::SGDOptions(0.05));
  for (int step = 0; step < steps; ++step) {
    auto x = groove::randn({6, 4}), y = groove::rand({6, 2});
    auto fast = weight * 1;
    for (int inner = 0; inner < 2; ++inner) {
      auto loss = (groove::matmul(x, fast).tanh() - y).square().mean();
      fast = fast - 0.1 * scale * autograd::grad({loss}, {fast}, {}, true, true)[0];
    }
    auto loss = (groove::matmul(x, fast).tanh() - y).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters({weight, scale});
}

void partial_derivatives(int steps, Log& log) {
  auto a = groove::full({3}, 0.5).requires_grad_(), b = groove::ones({3}).requires_grad_();
  auto unused = groove::ones({2}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto loss = (a.exp() * b).sum() * (1 + 0.1 * step);
    auto found = autograd::grad({loss}, {a, unused, b, a}, {}, std::nullopt, false, true);
    {
      NoGradGuard no_grad;
      a -= found[0] * 0.01;
      b -= found[2] * 0.02;
      log.integer(found[1].defined());
      log.tensor(found[3]);
    }
    log.number(loss.item<double>());
  }
  log.parameters({a, b, unused});
}

void two_backwards(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto out = net(groove::randn({3, 4}));
    auto loss = out.square().mean();
    loss.backward({}, true);
    out.backward(groove::full({3, 2}, 0.01 * step));
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

void gradient_kept_on_the_tape(int steps, Log& log) {
  auto a = groove::full({3}, 0.5).requires_grad_(), b = groove::ones({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto loss = (a * a * b).sum();
    loss.backward({}, true, true);
    auto curve = (a.grad() * b).square().sum() + b.grad().sum();
    a.mutable_grad() = Tensor();
    b.mutable_grad() = Tensor();
    curve.backward();
    {
      NoGradGuard no_grad;
      a -= a.grad() * 0.01;
      b -= b.grad() * 0.01;
    }
    a.mutable_grad() = Tensor();
    b.mutable_grad() = Tensor();
    log.number(curve.item<double>());
  }
  log.parameters({a, b});
}

// An optimizer of the user that calls the closure several times in a step.
void line_search(int steps, Log& log) {
  Pair net(4, 5, 2);
  const std::vector<Tensor> parameters = net->parameters();
  for (int step = 0; step < steps; ++step) {
    const auto x = groove::randn({3, 4});
    const auto closure = [&] {
      net->zero_grad();
      auto loss = net(x).square().mean();
      loss.backward();
      return loss;
    };
    double rate = 0.4, before = closure().item<double>();
    std::vector<Tensor> way;
    for (const Tensor& parameter : parameters) way.push_back(parameter.grad().clone());
    for (int part = 0; part < 3; ++part) {
      NoGradGuard no_grad;
      for (std::size_t i = 0; i < way.size(); ++i) parameters[i].sub_(way[i] * rate);
      double now;
      {
        AutoGradMode grad(true);
        now = closure().item<double>();
      }
      if (now < before) break;
      for (std::size_t i = 0; i < way.size(); ++i) parameters[i].add_(way[i] * rate);
      rate *= 0.5;
    }
    log.number(before);
  }
  log.parameters(parameters);
}

void steps_with_closure(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    const auto x = groove::randn({3, 4});
    auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto value = net(x).square().mean();
      value.backward();
      return value;
    });
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

// One expert of three has gradients in a step.
void experts(int steps, Log& log) {
  std::vector<nn::Linear> all;
  std::vector<Tensor> parameters;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(4, 3);
    for (const Tensor& parameter : all.back()->parameters()) parameters.push_back(parameter);
  }
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  for (int step = 0; step < 4 * steps; ++step) {
    optimizer.zero_grad();
    auto loss = all[static_cast<std::size_t>(step * step % 3)](groove::randn({5, 4}));
    loss = loss.square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(parameters);
}

void options_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  auto extra = groove::ones({2}).requires_grad_();
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < 3 * steps; ++step) {
    auto& options = static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options());
    if (step == steps) options.momentum(0.9);
    if (step == 2 * steps)
      optimizer.add_param_group(optim::OptimizerParamGroup(std::vector<Tensor>{extra}));
    options.lr(0.1 / (1 + step % 5));
    optimizer.zero_grad();
    auto loss = (net(groove::randn({3, 4})) * extra).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
  log.parameters({extra});
}

void state_by_hand(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    optimizer.step();
    if (step % 5 == 4)
      for (const Tensor& parameter : net->parameters()) {
        auto& state = static_cast<optim::SGDParamState&>(
            *optimizer.state().at(parameter.unsafeGetTensorImpl()));
        log.tensor(state.momentum_buffer());
        state.momentum_buffer().mul_(0.5);
      }
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

}  // namespace

const std::vector<Loop>& odd_loops() {
  static const std::vector<Loop> all = {
      {"gradients_dropped_by_hand", gradients_dropped_by_hand},
      {"gradients_zeroed_by_hand", gradients_zeroed_by_hand},
      {"gradients_replaced_by_hand", gradients_replaced_by_hand},
      {"gradients_sometimes_by_hand", gradients_sometimes_by_hand},
      {"own_adam", own_adam},
      {"zeros_instead_of_none", zeros_instead_of_none},
      {"clipped", clipped},
      {"averages", averages},
      {"frozen_for_a_while", frozen_for_a_while},
      {"frozen_in_every_step", frozen_in_every_step},
      {"frozen_half_way", frozen_half_way},
      {"gradient_penalty", gradient_penalty},
      {"inner_steps", inner_steps},
      {"partial_derivatives", partial_derivatives},
      {"two_backwards", two_backwards},
      {"gradient_kept_on_the_tape", gradient_kept_on_the_tape},
      {"line_search", line_search},
      {"steps_with_closure", steps_with_closure},
      {"experts", experts},
      {"options_by_hand", options_by_hand},
      {"state_by_hand", state_by_hand},
  };
  return all;
}

}  // namespace groove::testing
