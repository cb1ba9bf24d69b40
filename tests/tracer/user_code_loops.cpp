// Loops that make their custom functions and hooks anew in each iteration, several in one loop; and
// loops that throw and catch.
#include <groove/groove.h>

#include <optional>
#include <stdexcept>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"
#include "tests/tracer/pair_net.h"

namespace groove::testing {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

struct Squashed : autograd::Function<Squashed> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    auto y = groove::sigmoid(x);
    context->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto y = context->get_saved_variables()[0];
    return {gradients[0] * y * (1 - y)};
  }
};

struct Bent : autograd::Function<Bent> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x.clamp_min(-0.1).square();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto x = context->get_saved_variables()[0];
    return {gradients[0] * 2 * x.clamp_min(-0.1)};
  }
};

// The identity, whose gradient has the other sign.
struct Reversed : autograd::Function<Reversed> {
  static Tensor forward(AutogradContext* context, const Tensor& x, double scale) {
    context->saved_data["scale"] = scale;
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {-gradients[0] * context->saved_data["scale"].toDouble(), Tensor()};
  }
};

// Says how its outputs and gradients are to be taken.
struct Split : autograd::Function<Split> {
  static variable_list forward(AutogradContext* context, const Tensor& x, bool all, bool zeros) {
    auto low = x.clamp_max(0.2), high = x - 0.5;
    if (!all) context->mark_non_differentiable({high});
    context->set_materialize_grads(zeros);
    return {low, high};
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    auto result = gradients[0] * 0.5;
    if (gradients[1].defined()) result = result + gradients[1] * 0.25 + 0.01;
    return {result, Tensor(), Tensor()};
  }
};

// Keeps its input alone and runs the layer again in the backward.
struct Again : autograd::Function<Again> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    const NoGradGuard no_grad;
    return groove::tanh((*layer)(x));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto x = context->get_saved_variables()[0].detach().requires_grad_();
    Tensor y;
    {
      const AutoGradMode with_gradients(true);
      y = groove::tanh((*layer)(x));
    }
    autograd::backward({y}, {gradients[0]});
    return {x.grad()};
  }
  static inline nn::Linear* layer = nullptr;
};

struct Failing : autograd::Function<Failing> {
  static Tensor forward(AutogradContext* context, const Tensor& x, bool fails) {
    context->saved_data["fails"] = fails;
    return x * 2;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto doubled = gradients[0] * 2;
    if (context->saved_data["fails"].toBool()) throw std::runtime_error("backward");
    return {doubled, Tensor()};
  }
};

// Trains a net; `step(net, x, number)` gives the loss.
template <typename Step>
void train(int steps, Log& log, const Step& step) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int number = 0; number < steps; ++number) {
    optimizer.zero_grad();
    auto loss = step(net, groove::randn({3, 4}), number);
    loss.backward();
    optimizer.step();
    log.number(loss.template item<double>());
  }
  log.parameters(net->parameters());
}

void functions_in_a_row(int steps, Log& log) {
  train(steps, log, [](Pair& net, const Tensor& x, int) {
    auto hidden = Squashed::apply(Bent::apply(net->first(x)));
    return Squashed::apply(Bent::apply(net->second(hidden))).square().mean();
  });
}

void functions_and_hooks(int steps, Log& log) {
  train(steps, log, [](Pair& net, const Tensor& x, int step) {
    auto hidden = Squashed::apply(net->first(x));
    hidden.register_hook([step](const Tensor& gradient) { return gradient * (1.0 / (1 + step)); });
    auto out = Bent::apply(net->second(hidden));
    out.register_hook([](const Tensor& gradient) { return gradient.clamp(-0.2, 0.2); });
    return out.mean();
  });
}

void flags_seen_around_a_function(int steps, Log& log) {
  train(steps, log, [&](Pair& net, const Tensor& x, int) {
    auto out = Reversed::apply(Squashed::apply(net->first(x)), 0.5);
    log.integer(out.requires_grad());
    auto parts = Split::apply(out, false, true);
    log.integer(parts[0].requires_grad());
    log.integer(parts[1].requires_grad());
    return net->second(parts[0] + parts[1].tanh()).square().mean();
  });
}

void hooks_on_every_layer(int steps, Log& log) {
  std::vector<Tensor> seen(2);
  train(steps, log, [&](Pair& net, Tensor x, int step) {
    int place = 0;
    for (auto* layer : {&net->first, &net->second}) {
      x = groove::tanh((*layer)(x));
      x.register_hook([&seen, place](const Tensor& gradient) {
        seen[static_cast<std::size_t>(place)] = gradient;
        return Tensor();
      });
      ++place;
    }
    if (step % 4 == 3)
      for (const Tensor& gradient : seen) log.tensor(gradient);
    return x.square().mean();
  });
}

void hook_on_a_new_input(int steps, Log& log) {
  Tensor slope;
  train(steps, log, [&](Pair& net, Tensor x, int) {
    if (slope.defined()) log.number(slope.max().item<double>());
    x.requires_grad_();
    log.integer(x.register_hook([&slope](const Tensor& gradient) {
      slope = gradient.abs();
      return Tensor();
    }));
    return net(x).square().mean();
  });
}

void leaf_hooks_of_one_iteration(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  int calls = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<unsigned> hooks;
    for (const Tensor& weight : net->parameters())
      hooks.push_back(weight.register_hook([&calls, step](const Tensor& gradient) {
        ++calls;
        return gradient * (1.0 / (1 + step % 3));
      }));
    optimizer.zero_grad();
    auto loss = loss_of(net, step);
    loss.backward();
    for (std::size_t i = 0; i < hooks.size(); ++i) net->parameters()[i].remove_hook(hooks[i]);
    optimizer.step();
    log.number(loss.item<double>());
    log.integer(hooks[1]);
  }
  log.integer(calls);
  log.parameters(net->parameters());
}

// As many as before, but others.
void leaf_hook_replaced(int steps, Log& log) {
  std::optional<unsigned> hook;
  train(steps, log, [&](Pair& net, const Tensor& x, int step) {
    const Tensor& weight = net->second->weight;
    if (step % 3 == 0) {
      if (hook) weight.remove_hook(*hook);
      hook = weight.register_hook(
          [step](const Tensor& gradient) { return gradient * (0.5 + 0.1 * step); });
    }
    return net(x).square().mean();
  });
}

// A hook that takes off itself, and one that takes off another, while they are called.
void hooks_that_take_off_hooks(int steps, Log& log) {
  std::string called;
  train(steps, log, [&](Pair& net, const Tensor& x, int step) {
    const Tensor weight = net->second->weight;
    std::vector<unsigned> hooks(4);
    for (unsigned place = 0; place < 4; ++place)
      hooks[place] = weight.register_hook([&called, &hooks, weight, place](const Tensor& gradient) {
        called += static_cast<char>('a' + place);
        if (place == 1) weight.remove_hook(hooks[1]);
        if (place == 1) weight.remove_hook(hooks[2]);
        return gradient * (1 + 0.1 * place);
      });
    auto loss = net(x).square().mean() + 0.01 * (step % 2);
    loss.backward({}, true);
    weight.remove_hook(hooks[0]);
    weight.remove_hook(hooks[0]);
    weight.remove_hook(hooks[3]);
    return loss;
  });
  log.line(called);
}

void gradient_reversed(int steps, Log& log) {
  nn::Linear domain(5, 2);
  train(steps, log, [&](Pair& net, const Tensor& x, int step) {
    auto hidden = groove::tanh(net->first(x));
    auto guess = domain(Reversed::apply(hidden, 0.1 * step));
    return net->second(hidden).square().mean() + (guess - 1).square().mean();
  });
  log.parameters(domain->parameters());
}

void context_that_varies(int steps, Log& log) {
  train(steps, log, [](Pair& net, const Tensor& x, int step) {
    auto parts = Split::apply(net->first(x), step % 4 != 1, step % 4 != 3);
    auto hidden = step % 4 > 1 ? parts[0] : parts[0] + parts[1] * 0.5;
    return net->second(hidden).square().mean();
  });
}

void function_that_runs_again(int steps, Log& log) {
  nn::Linear layer(5, 5);
  Again::layer = &layer;
  train(steps, log, [&](Pair& net, const Tensor& x, int) {
    return net->second(Again::apply(groove::tanh(net->first(x)))).square().mean();
  });
  log.parameters(layer->parameters());
}

void gradients_added_up_with_hooks(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    double total = 0;
    for (int part = 0; part < 3; ++part) {
      auto hidden = Squashed::apply(net->first(groove::randn({3, 4})));
      hidden.register_hook(
          [part](const Tensor& gradient) { return gradient * (1.0 / (1 + part)); });
      auto loss = net->second(hidden).square().mean();
      loss.backward();
      total += loss.item<double>();
    }
    optimizer.step();
    log.number(total);
  }
  log.parameters(net->parameters());
}

// ---- histories that outlive the stretch that made them ----

// The gradient at a view that is kept to the end of the step and beyond.
void hook_on_a_kept_part(int steps, Log& log) {
  Tensor slope, part;
  train(steps, log, [&](Pair& net, const Tensor& x, int step) {
    if (step % 3 == 2) {
      auto twice = autograd::grad({part.square().sum()}, {part}, {}, true)[0];
      log.tensor(twice);
      log.tensor(slope * part.detach());
    }
    auto parts = groove::tanh(net->first(x)).split({2, 3}, 1);
    part = parts[0];
    part.register_hook([&slope, step](const Tensor& gradient) {
      slope = gradient.clone();
      return gradient * (1 + 0.1 * (step % 2));
    });
    return net->second(groove::cat({parts[0], parts[1] * 2}, 1)).square().mean();
  });
}

// Backward through a result of the iteration before: the function and the hook are those of then.
void backward_one_iteration_later(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  Tensor before;
  for (int step = 0; step < steps; ++step) {
    const auto x = groove::randn({3, 4});
    auto hidden = Bent::apply(net->first(x));
    hidden.register_hook([&log, step](const Tensor& gradient) {
      log.integer(step);
      return gradient * (1.0 / (1 + step % 4));
    });
    auto out = Squashed::apply(hidden * hidden.mean());
    log.number(out.sum().item<double>());
    if (before.defined()) {
      optimizer.zero_grad();
      try {
        before.square().mean().backward();
        for (const Tensor& weight : net->parameters()) log.tensor(weight.grad());
      } catch (const Error& error) {
        log.line("error");
      }
    }
    before = out;
  }
  log.parameters(net->parameters());
}

// Episodes of varying length: each step looks at a value, and the backward comes at the end.
void functions_in_episodes(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int episode = 0; episode < steps; ++episode) {
    std::vector<Tensor> values;
    auto state = groove::randn({1, 4});
    for (int step = 0; step < 2 + episode % 3; ++step) {
      auto hidden = Squashed::apply(net->first(state));
      hidden.register_hook(
          [step](const Tensor& gradient) { return gradient * (1.0 / (1 + step)); });
      auto value = Bent::apply(net->second(hidden)).sum();
      log.number(value.item<double>());
      state = state * 0.5 + value.item<double>() * 0.1;
      values.push_back(value);
    }
    auto loss = groove::stack(values).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(net->parameters());
}

// One backward keeps what the other needs; both losses are held to the end.
void two_backwards(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto hidden = Squashed::apply(net->first(groove::randn({3, 4})));
    hidden.register_hook([](const Tensor& gradient) { return gradient * 0.5; });
    auto shared = groove::tanh(hidden);
    auto one = net->second(shared).square().mean(), two = shared.mean();
    one.backward({}, true);
    two.backward();
    optimizer.step();
    log.number(one.item<double>());
    if (step % 4 == 3) {
      try {
        one.backward();
      } catch (const Error&) {
        log.line("used up");
      }
    }
  }
  log.parameters(net->parameters());
}

// ---- errors ----

// Gradients that were added before the error stay.
void function_that_throws(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    try {
      auto hidden = Failing::apply(groove::tanh(net->first(groove::randn({3, 4}))), step % 4 == 3);
      auto loss = net->second(hidden).square().mean();
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    } catch (const std::runtime_error& error) {
      log.line(error.what());
      for (const Tensor& weight : net->parameters()) log.tensor(weight.grad());
    }
  }
  log.parameters(net->parameters());
}

void error_before_the_backward(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    try {
      auto loss = loss_of(net, step);
      if (step % 5 == 4) throw std::runtime_error("a bad batch");
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    } catch (const std::runtime_error& error) {
      log.line(error.what());
    }
  }
  log.parameters(net->parameters());
}

void error_of_an_operator(int steps, Log& log) {
  Pair net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    try {
      auto hidden = groove::tanh(net->first(groove::randn({3, 4})));
      if (step % 5 == 4) hidden = hidden + groove::ones({7});
      auto loss = net->second(hidden).square().mean();
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    } catch (const Error&) {
      log.line("error");
    }
  }
  log.parameters(net->parameters());
}

}  // namespace

const std::vector<Loop>& user_code_loops() {
  static const std::vector<Loop> all = {
      {"functions_in_a_row", functions_in_a_row},
      {"functions_and_hooks", functions_and_hooks},
      {"flags_seen_around_a_function", flags_seen_around_a_function},
      {"hooks_on_every_layer", hooks_on_every_layer},
      {"hook_on_a_new_input", hook_on_a_new_input},
      {"leaf_hooks_of_one_iteration", leaf_hooks_of_one_iteration},
      {"leaf_hook_replaced", leaf_hook_replaced},
      {"hooks_that_take_off_hooks", hooks_that_take_off_hooks},
      {"gradient_reversed", gradient_reversed},
      {"context_that_varies", context_that_varies},
      {"function_that_runs_again", function_that_runs_again},
      {"gradients_added_up_with_hooks", gradients_added_up_with_hooks},
      {"hook_on_a_kept_part", hook_on_a_kept_part},
      // A backward through an older function runs one by one.
      {"backward_one_iteration_later", backward_one_iteration_later, true, 0.3},
      {"functions_in_episodes", functions_in_episodes},
      {"two_backwards", two_backwards},
      {"function_that_throws", function_that_throws},
      {"error_before_the_backward", error_before_the_backward},
      {"error_of_an_operator", error_of_an_operator},
  };
  return all;
}

}  // namespace groove::testing
