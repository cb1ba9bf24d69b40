// Loops whose results keep their history beyond the stretch that made them: losses for later,
// states carried on, forward and backward apart.
#include <groove/groove.h>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

struct PolicyImpl : nn::Module {
  PolicyImpl() {
    first = register_module("first", nn::Linear(4, 8));
    second = register_module("second", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) {
    return nn::functional::log_softmax(second(groove::tanh(first(x))),
                                       nn::functional::LogSoftmaxFuncOptions(-1));
  }
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Policy);

// Episodes of varying length; what an action did is known after the episode.
void episodes(int steps, Log& log) {
  Policy policy;
  optim::Adam optimizer(policy->parameters(), optim::AdamOptions(1e-2));
  for (int episode = 0; episode < steps; ++episode) {
    std::vector<Tensor> chosen;
    std::vector<double> rewards;
    auto state = groove::randn({4});
    const int length = 3 + episode * 5 % 7;
    for (int t = 0; t < length; ++t) {
      auto scores = policy(state);
      const auto action = groove::multinomial(scores.detach().exp(), 1).item<std::int64_t>();
      chosen.push_back(scores[action]);
      rewards.push_back(action == t % 3 ? 1.0 : -0.5);
      state = state * 0.5 + groove::randn({4});
    }
    auto loss = groove::zeros({});
    for (int t = 0; t < length; ++t)
      loss = loss - chosen[static_cast<std::size_t>(t)] * rewards[static_cast<std::size_t>(t)];
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters(policy->parameters());
}

// A cell over sequences of every length, whose weights are used in each time step.
void recurrent(int steps, Log& log) {
  auto input = groove::randn({3, 6}).mul_(0.3).requires_grad_();
  auto hidden = groove::randn({6, 6}).mul_(0.3).requires_grad_();
  auto bias = groove::zeros({6}).requires_grad_();
  optim::SGD optimizer({input, hidden, bias}, optim::SGDOptions(0.05));
  for (int step = 0; step < steps; ++step) {
    const int length = 5 + step * 7 % 16;
    auto state = groove::zeros({2, 6});
    for (int t = 0; t < length; ++t) {
      auto x = groove::randn({2, 3});
      state = groove::tanh(x.mm(input) + state.mm(hidden) + bias);
    }
    auto loss = state.square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameters({input, hidden, bias});
}

// Truncated back-propagation: inside a window the state keeps its history, between them it does
// not.
void windows(int steps, Log& log) {
  auto weight = groove::randn({4, 4}).mul_(0.4).requires_grad_();
  auto state = groove::zeros({1, 4});
  for (int step = 0; step < steps; ++step) {
    auto loss = groove::zeros({});
    for (int t = 0; t < 4; ++t) {
      state = groove::sigmoid(state.mm(weight) + groove::randn({1, 4}));
      loss = loss + state.sum();
      log.number(loss.item<double>());
    }
    loss.backward();
    {
      NoGradGuard guard;
      weight.sub_(weight.grad(), 0.01);
      weight.grad().zero_();
    }
    state = state.detach();
  }
  log.parameters({weight});
}

// Losses that are looked at, kept, and summed for one backward.
void kept_losses(int steps, Log& log) {
  auto weight = groove::randn({5}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.02).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    std::vector<Tensor> losses;
    for (int k = 0; k < 3; ++k) {
      losses.push_back((weight * groove::randn({5})).exp().mean());
      log.number(losses.back().item<double>());
    }
    optimizer.zero_grad();
    auto total = losses[0] + losses[1] + losses[2];
    total.backward();
    optimizer.step();
  }
  log.parameters({weight});
}

// An ODE whose step size depends on the state, differentiated to its start.
void adaptive(int steps, Log& log) {
  auto rate = groove::randn({4, 4}).mul_(0.2).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto start = groove::randn({4}).requires_grad_();
    Tensor y = start;
    double t = 0, h = 0.1;
    while (t < 1.0) {
      auto slope = groove::tanh(groove::mv(rate, y));
      auto half = groove::tanh(groove::mv(rate, y + slope * (h * 0.5)));
      const double error = (slope - half).abs().max().item<double>();
      y = y + half * h;
      t += h;
      h = error > 0.02 ? h * 0.7 : h * 1.4;
    }
    auto loss = y.square().sum();
    loss.backward();
    log.number(loss.item<double>());
    log.tensor(start.grad());
    NoGradGuard guard;
    rate.sub_(rate.grad() * 0.05);
    rate.mutable_grad() = Tensor();
  }
  log.parameters({rate});
}

// Forward of all micro-batches first, then their backwards.
void apart(int steps, Log& log) {
  Policy policy;
  optim::Adam optimizer(policy->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    std::vector<Tensor> losses;
    for (int k = 0; k < 3; ++k) {
      auto loss = policy(groove::randn({2, 4})).square().mean();
      log.number(loss.item<double>());
      losses.push_back(loss);
    }
    optimizer.zero_grad();
    for (const Tensor& loss : losses) loss.backward();
    optimizer.step();
  }
  log.parameters(policy->parameters());
}

void retained_twice(int steps, Log& log) {
  auto weight = groove::randn({6}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto loss = (weight.exp() * groove::randn({6})).sum();
    log.number(loss.item<double>());
    loss.backward({}, true);
    loss.backward();
    try {
      loss.backward();
      log.integer(0);
    } catch (const Error& error) {
      log.line(error.what());
    }
    log.tensor(weight.grad());
    NoGradGuard guard;
    weight.sub_(weight.grad() * 0.01);
    weight.mutable_grad() = Tensor();
  }
  log.parameters({weight});
}

// A gradient that is itself differentiated, over a forward that ran compiled.
void second_order(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto x = groove::randn({4});
    auto y = (weight.tanh() * x).pow(2).sum();
    log.number(y.item<double>());
    auto first = autograd::grad({y}, {weight}, {}, {}, true)[0];
    auto penalty = first.square().sum() + y;
    penalty.backward();
    log.number(penalty.item<double>());
    log.tensor(weight.grad());
    NoGradGuard guard;
    weight.sub_(weight.grad() * 0.01);
    weight.mutable_grad() = Tensor();
  }
  log.parameters({weight});
}

void two_losses(int steps, Log& log) {
  Policy policy;
  optim::SGD optimizer(policy->parameters(), optim::SGDOptions(0.05));
  for (int step = 0; step < steps; ++step) {
    auto scores = policy(groove::randn({3, 4}));
    auto first = scores.mean();
    auto second = scores.exp().square().sum();
    log.number(first.item<double>());
    log.number(second.item<double>());
    optimizer.zero_grad();
    first.backward({}, true);
    if (step % 3 != 1) second.backward();
    optimizer.step();
  }
  log.parameters(policy->parameters());
}

// Histories that nobody follows.
void dropped(int steps, Log& log) {
  Policy policy;
  auto best = groove::zeros({});
  for (int step = 0; step < 3 * steps; ++step) {
    auto score = policy(groove::randn({3, 4})).max();
    if (step == 0 || score.item<double>() > best.item<double>()) best = score;
    log.number(best.item<double>());
  }
  best.backward();
  log.parameters(policy->parameters());
}

// What a backward needs is written in place before it: the error is that of eager mode.
void stale(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  auto factor = groove::randn({4});
  for (int step = 0; step < steps; ++step) {
    auto hidden = weight * factor;
    auto loss = hidden.exp().sum();
    log.number(loss.item<double>());
    if (step % 4 == 3) factor.add_(0.25);
    try {
      loss.backward();
      log.tensor(weight.grad());
    } catch (const Error& error) {
      log.line(error.what());
    }
    weight.mutable_grad() = Tensor();
    log.integer(factor._version());
  }
}

// Views of results, and results written in place afterwards.
void views_of_results(int steps, Log& log) {
  auto weight = groove::randn({3, 4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto hidden = weight.mul(groove::randn({3, 4}));
    auto row = hidden.select(0, 1);
    auto turned = hidden.t();
    log.number(row.sum().item<double>());
    if (step % 2 == 0) row.mul_(2.0);
    if (step % 3 == 0) turned.add_(weight.t());
    auto loss = hidden.square().sum() + turned.sum();
    loss.backward();
    log.tensor(hidden);
    log.tensor(weight.grad());
    log.integer(hidden._version());
    weight.mutable_grad() = Tensor();
  }
}

// What the program can see of a history.
void looked_at(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto hidden = (weight * 2.0).exp();
    auto loss = hidden.sum();
    log.number(loss.item<double>());
    log.integer(loss.grad_fn() != nullptr);
    log.integer(loss.output_nr());
    if (step % 2 == 0) hidden.retain_grad();
    loss.backward();
    if (step % 2 == 0) log.tensor(hidden.grad());
    log.tensor(weight.grad());
    log.integer(hidden.is_leaf());
    weight.mutable_grad() = Tensor();
  }
}

// A state that is written in place, step by step, and differentiated through.
void written_in_place(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto state = weight * groove::randn({4});
    auto kept = state.exp();
    for (int t = 0; t < 5; ++t) {
      state.mul_(0.5);
      state.add_(weight * groove::randn({4}));
      state.sub_(weight, 0.25);
      log.number(state.sum().item<double>());
    }
    auto loss = (state * state).sum() + kept.sum();
    loss.backward();
    log.tensor(state);
    log.parameter(weight);
    NoGradGuard guard;
    weight.sub_(weight.grad() * 0.05);
    weight.mutable_grad() = Tensor();
  }
}

// A sum of losses that nobody detached: it is no part of any step's backward.
void undetached_total(int steps, Log& log) {
  Policy policy;
  optim::SGD optimizer(policy->parameters(), optim::SGDOptions(0.05));
  auto total = groove::zeros({});
  for (int step = 0; step < steps; ++step) {
    auto loss = policy(groove::randn({2, 4})).square().mean();
    total = total + loss;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 4) log.number(total.item<double>());
  }
  try {
    total.backward();
  } catch (const Error& error) {
    log.line(error.what());
  }
  log.parameters(policy->parameters());
}

// A gradient of one leaf, by a way that an earlier backward through shared parts left whole; for the
// other leaf the way is used up.
void chosen_past_what_is_used_up(int steps, Log& log) {
  auto matrix = groove::randn({3, 3}).requires_grad_();
  auto bias = groove::randn({1, 1}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto shared = matrix.mm(matrix) + bias;
    auto column = shared.select(1, 1);
    auto loss = shared.prod(1).sum();
    loss.backward();
    log.number(loss.item<double>());
    try {
      auto wanted = step % 5 == 4 ? matrix : bias;
      log.number(autograd::grad({column.mean()}, {wanted}, {}, true)[0].sum().item<double>());
    } catch (const Error& error) {
      log.line(error.what());
    }
  }
  log.parameters({matrix, bias});
}

// The same for a result on the way, and for a state that grows over iterations.
void inner_gradient_past_what_is_used_up(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto product = weight * weight;
    auto middle = product + 1.0;
    auto loss = middle.sum();
    auto kept = loss * 2.0;
    loss.backward();
    log.number(loss.item<double>());
    try {
      auto wanted = step % 5 == 4 ? weight : step % 3 == 2 ? product : middle;
      auto found = autograd::grad({step % 2 ? kept : loss}, {wanted}, {}, true, step % 3 == 1)[0];
      log.number(found.sum().item<double>());
      log.integer(found.numel());
      if (step % 6 == 3) autograd::backward({kept}, {}, {}, false, {middle});
    } catch (const Error& error) {
      log.line(error.what());
    }
    log.tensor(weight.grad());
  }
  log.parameters({weight});
}

void partly_used_up_over_iterations(int steps, Log& log) {
  auto weight = groove::randn({3}).requires_grad_(), bias = groove::randn({3}).requires_grad_();
  auto carried = groove::zeros({3});
  for (int step = 0; step < 2 * steps; ++step) {
    auto product = weight * weight;
    carried = carried + (product + bias);
    product.sum().backward();
    log.number(carried.sum().item<double>());
    if (step % 4 != 3) continue;
    log.tensor(autograd::grad({carried.sum()}, {bias}, {}, true)[0]);
    try {
      carried.sum().backward();
    } catch (const Error& error) {
      log.line(error.what());
    }
    carried = carried.detach();
  }
  log.parameters({weight, bias});
}

// A backward that fails in the middle has added up what came before. What it asks of a run does not
// lead to the older run to which another result leads, so that no leaf waits for that one.
void failing_beside_an_older_history(int steps, Log& log) {
  auto offset = groove::randn({1, 8}).requires_grad_();
  auto weight = groove::randn({1}).requires_grad_();
  Tensor held = offset.detach().clone();
  for (int step = 0; step < steps; ++step) {
    auto scale = (weight * weight).clamp_min(0.01);
    log.number(scale.item<double>());
    auto state = offset - scale;
    auto older = held * 2.0;
    auto loss = state.sum();
    log.number(loss.item<double>());
    if (step % 3 != 2) {
      NoGradGuard guard;
      weight.tanh_();
    }
    try {
      loss.backward({}, step % 2 == 1);
    } catch (const Error& error) {
      log.line(error.what());
    }
    if (step % 5 == 3) log.tensor(autograd::grad({older.mean()}, {offset}, {}, true)[0]);
    log.tensor(offset.grad());
    log.tensor(weight.grad());
    offset.mutable_grad() = weight.mutable_grad() = Tensor();
    held = state;
  }
  log.parameters({offset, weight, held});
}

// Hooks of leaves are called in the middle of a backward, each as soon as its gradient is complete,
// and may change what is still to be read.
void leaf_hooks_behind_a_run(int steps, Log& log) {
  auto first = groove::randn({4}).requires_grad_(), second = groove::randn({4}).requires_grad_();
  int calls = 0, step = 0;
  first.register_hook([&](const Tensor& gradient) {
    log.integer(10 * ++calls + 1);
    log.integer(second.grad().defined());
    return gradient * 0.5;
  });
  second.register_hook([&](const Tensor& gradient) {
    log.integer(10 * ++calls + 2);
    log.integer(first.grad().defined());
    NoGradGuard guard;
    if (step % 4 == 3) first.mul_(0.5);
    return gradient * 2.0;
  });
  for (; step < steps; ++step) {
    auto loss = ((first * first).exp() * second).sum();
    log.number(loss.item<double>());
    try {
      loss.backward();
    } catch (const Error& error) {
      log.line(error.what());
    }
    log.tensor(first.grad());
    log.tensor(second.grad());
    first.mutable_grad() = second.mutable_grad() = Tensor();
  }
  log.parameters({first, second});
}

// What was an older tensor in the recording is now and then what the iteration itself has made.
void results_in_place_of_inputs(int steps, Log& log) {
  const Tensor weight = groove::rand({4}).requires_grad_();
  const auto make = [&] { return (groove::rand({4}) * weight).sum(); };
  Tensor older = make(), other = make();
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    const Tensor made = make();
    log.number(made.item<double>());
    kept.push_back((step % 5 == 4 ? made : other) * 2 + older);
    log.number(kept.back().item<double>());
    if (step % 10 != 9) continue;
    log.tensor(autograd::grad({groove::stack(kept).sum()}, {weight})[0]);
    kept.clear();
    older = make();
    other = make();
  }
}

}  // namespace

const std::vector<Loop>& live_loops() {
  static const std::vector<Loop> all{
      {"episodes", episodes},
      {"recurrent", recurrent},
      {"windows", windows},
      {"kept_losses", kept_losses},
      {"adaptive", adaptive},
      {"forward_and_backward_apart", apart},
      {"retained_twice", retained_twice},
      {"second_order", second_order},
      {"two_losses", two_losses},
      {"dropped_histories", dropped},
      {"stale_saved_values", stale},
      {"views_of_results", views_of_results},
      {"histories_looked_at", looked_at},
      {"written_in_place", written_in_place},
      {"undetached_total", undetached_total},
      {"chosen_past_what_is_used_up", chosen_past_what_is_used_up},
      {"inner_gradient_past_what_is_used_up", inner_gradient_past_what_is_used_up},
      {"partly_used_up_over_iterations", partly_used_up_over_iterations},
      {"failing_beside_an_older_history", failing_beside_an_older_history},
      {"leaf_hooks_behind_a_run", leaf_hooks_behind_a_run},
      {"results_in_place_of_inputs", results_in_place_of_inputs},
  };
  return all;
}

}  // namespace groove::testing
