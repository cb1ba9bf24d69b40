// Loops whose backward runs code of the program (hooks, custom functions), that replace the data of
// a tensor, or that write through views and raw pointers.
#include <groove/groove.h>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"
#include "tests/tracer/pair_net.h"

namespace groove::testing {
namespace {

void hook_on_parameter(int steps, Log& log) {
  Pair net(4, 5, 2);
  int calls = 0;
  net->first->weight.register_hook([&calls](const Tensor& grad) {
    ++calls;
    return grad * (calls % 2 ? 0.5 : 0.25);
  });
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.integer(calls);
  log.parameters(net->parameters());
}

void hook_on_result(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto hidden = groove::tanh(net->first(groove::randn({3, 4})));
    hidden.register_hook([&](const Tensor& grad) { log.number(grad.sum().item<double>()); });
    hidden.register_hook([step](const Tensor& grad) { return grad * (1.0 / (1 + step)); });
    auto loss = net->second(hidden).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

void hook_in_a_second_derivative(int steps, Log& log) {
  Pair net(4, 5, 1);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    const auto x = groove::randn({3, 4}).requires_grad_();
    auto hidden = groove::tanh(net->first(x));
    hidden.register_hook([&](const Tensor& grad) { log.number(grad.sum().item<double>()); });
    hidden.register_hook([](const Tensor& grad) { return grad * grad; });
    auto out = net->second(hidden).sum();
    auto slope = autograd::grad({out}, {x}, {}, true, true)[0];
    optimizer.zero_grad();
    (slope.square().sum() + out).backward();
    optimizer.step();
    log.number(out.item<double>());
  }
  log.parameters(net->parameters());
}

// The backward stops where the hook throws; what it has added by then stays.
void hook_that_throws(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    try {
      auto hidden = groove::tanh(net->first(groove::randn({3, 4})));
      hidden.register_hook([step](const Tensor& grad) {
        if (step % 5 == 4) throw Error("not this time");
        return grad * 0.5;
      });
      auto loss = net->second(hidden).square().mean();
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    } catch (const Error& error) {
      log.text += error.what();
      log.tensor(net->second->bias.grad());
    }
    optimizer.zero_grad();
  }
  log.parameters(net->parameters());
}

struct Scaled : autograd::Function<Scaled> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x, double scale) {
    context->saved_data["scale"] = scale;
    auto y = (x * scale).tanh();
    context->save_for_backward({x, y});
    return y;
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list gradients) {
    ++calls;
    const auto saved = context->get_saved_variables();
    const double scale = context->saved_data["scale"].toDouble();
    return {gradients[0] * (1 - saved[1].square()) * scale + saved[0] * 0.001, Tensor()};
  }
  static inline int calls = 0;
};

void custom_function(int steps, Log& log) {
  Pair net(4, 5, 2);
  Scaled::calls = 0;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto hidden = Scaled::apply(net->first(groove::randn({3, 4})), 1.0 + 0.1 * step);
    auto loss = net->second(Scaled::apply(hidden, 0.5)).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    log.integer(Scaled::calls);
  }
  log.parameters(net->parameters());
}

void data_replaced(int steps, Log& log) {
  Pair net(4, 5, 2), target(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const auto x = groove::randn({3, 4});
    Tensor goal;
    {
      NoGradGuard no_grad;
      goal = target(x);
    }
    auto loss = (net(x) - goal).square().mean() + net(x).mean();
    loss.backward();
    optimizer.step();
    const auto from = net->parameters(), to = target->parameters();
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i].set_data(from[i].detach() * 0.1 + to[i].detach() * 0.9);
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
  log.parameters(target->parameters());
}

void detached_in_place(int steps, Log& log) {
  nn::Linear in(3, 4), over(4, 4);
  std::vector<Tensor> parameters = in->parameters();
  for (const Tensor& parameter : over->parameters()) parameters.push_back(parameter);
  optim::SGD optimizer(parameters, optim::SGDOptions(0.1));
  auto hidden = groove::zeros({2, 4});
  for (int step = 0; step < steps; ++step) {
    for (int part = 0; part < 3; ++part)
      hidden = groove::tanh(in(groove::randn({2, 3})) + over(hidden));
    auto loss = hidden.square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    hidden.detach_();
    log.number(loss.item<double>());
  }
  log.tensor(hidden);
  log.parameters(parameters);
}

void gradient_retained(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto hidden = groove::tanh(net->first(groove::randn({3, 4})));
    hidden.retain_grad();
    auto loss = net->second(hidden).square().mean();
    loss.backward();
    optimizer.step();
    log.tensor(hidden.grad());
  }
  log.parameters(net->parameters());
}

// Writes through slices that move, transposes, and other dtypes.
void ring_buffer(int steps, Log& log) {
  auto ring = groove::zeros({6, 2});
  auto weight = groove::ones({2}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto out = weight * groove::rand({2});
    ring[step % 6] = out.detach();
    auto loss = (out.sum() + ring.mean()).square();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.tensor(ring);
  log.parameters({weight});
}

void rows_filled(int steps, Log& log) {
  auto weight = groove::ones({4}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    auto table = groove::zeros({5, 4});
    for (int i = 0; i < 5; ++i) table[i] = weight * (0.1 * i + 0.01 * step);
    auto loss = (table * table.t().contiguous().view({5, 4})).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters({weight});
}

void dtypes_mixed(int steps, Log& log) {
  auto sums = groove::zeros({3, 2}, kDouble);
  auto counts = groove::zeros({3}, kLong);
  auto state = groove::zeros({2, 3});
  for (int step = 0; step < steps; ++step) {
    auto x = groove::rand({3, 2});
    sums.add_(x);
    sums.slice(0, 1, 3).copy_(x.slice(0, 0, 2));
    counts.select(0, step % 3).add_(1);
    state.t().add_(x, 0.5);
    state.slice(1, step % 2, step % 2 + 2).mul_(0.9);
    log.number(sums.sum().item<double>());
  }
  log.tensor(sums);
  log.tensor(counts);
  log.tensor(state);
}

void large_memory_written(int steps, Log& log) {
  auto weight = groove::ones({1000, 100}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  auto input = groove::zeros({1000, 100});
  for (int step = 0; step < steps; ++step) {
    float* memory = input.data_ptr<float>();
    for (int i = 0; i < 1000; ++i) memory[i * 97] = static_cast<float>(step + i % 7) * 0.125f;
    optimizer.zero_grad();
    auto first = weight * input;
    memory[step] = -1.0f;
    auto loss = (first + weight.exp() * input).mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.number(weight.detach().sum().item<double>());
}

// The loop itself writes memory whose address the program knows, and looks at it there.
void known_memory_written(int steps, Log& log) {
  auto state = groove::zeros({4, 3});
  float* memory = state.data_ptr<float>();
  for (int step = 0; step < steps; ++step) {
    memory[step % 12] += 0.5f;
    state.mul_(0.9).add_(groove::rand({4, 3}), 0.1);
    state[1] = 0.25;
    log.number(state.sum().item<double>());
    log.number(memory[3]);
  }
  log.tensor(state);
}

// Pointers from before the loop, to what the library writes as a whole in every step.
void old_pointers(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  auto target = groove::zeros({4}), mask = groove::ones({4});
  float *const parameter = weight.data_ptr<float>(), *const wanted = target.data_ptr<float>(),
               *const masked = mask.data_ptr<float>();
  optim::Adam optimizer({weight}, optim::AdamOptions(0.05));
  for (int step = 0; step < steps; ++step) {
    target.zero_();
    wanted[step % 4] = 1;
    auto loss = (weight * mask - target).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    mask.copy_(groove::rand({4}));
    masked[0] = masked[1] * 0.5f;
    if (step % 3 == 2) parameter[1] *= 0.5f;
    log.number(loss.item<double>());
    log.number(parameter[0]);
  }
  log.parameters({weight, target, mask});
}

struct Product : autograd::Function<Product> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x, const Tensor& y) {
    context->save_for_backward({x, y});
    return x.mm(y);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {gradients[0].mm(saved[1].t()), saved[0].t().mm(gradients[0])};
  }
};

// What the function has saved is written before its backward, by the loop itself: an error each
// time.
void function_saves_what_is_written(int steps, Log& log) {
  auto w = groove::randn({4, 4}).requires_grad_(), scale = groove::randn({4, 4}).requires_grad_();
  const auto start = groove::randn({4, 4});
  for (int step = 0; step < steps; ++step) {
    auto loss = groove::zeros({});
    auto x = start.clone() * scale;
    const auto y = Product::apply(x, w).tanh();
    x[2].copy_(y[0]);
    loss = loss + x.square().mean();
    try {
      loss.backward();
      log.line("no error");
    } catch (const Error& error) {
      log.line(error.what());
    }
  }
  log.parameters({w, scale});
}

}  // namespace

const std::vector<Loop>& code_loops() {
  static const std::vector<Loop> all = {
      {"hook_on_parameter", hook_on_parameter},
      {"hook_on_result", hook_on_result},
      {"hook_that_throws", hook_that_throws},
      {"function_saves_what_is_written", function_saves_what_is_written},
      {"hook_in_a_second_derivative", hook_in_a_second_derivative},
      {"custom_function", custom_function},
      {"data_replaced", data_replaced},
      {"detached_in_place", detached_in_place},
      {"gradient_retained", gradient_retained},
      {"ring_buffer", ring_buffer},
      {"rows_filled", rows_filled},
      {"dtypes_mixed", dtypes_mixed},
      {"large_memory_written", large_memory_written},
      {"known_memory_written", known_memory_written},
      {"old_pointers", old_pointers},
  };
  return all;
}

}  // namespace groove::testing
