// Loops on the tape's finer rules: views made without recording, data(), gradients that are kept
// over writes, values that were changed and are not needed, errors that depend on run-time numbers.
#include <groove/groove.h>

#include <cmath>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

using indexing::Slice;

void descend(const std::vector<Tensor>& parameters) {
  NoGradGuard guard;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    parameter.sub_(parameter.grad() * 0.05);
    parameter.mutable_grad() = Tensor();
  }
}

// Written by hand through data(): no version counts, and what was saved before shows the change.
void steps_through_data(int steps, Log& log) {
  auto weight = groove::randn({4, 4}).mul_(0.4).requires_grad_();
  const auto x = groove::randn({3, 4});
  for (int step = 0; step < steps; ++step) {
    auto loss = groove::tanh(x.mm(weight)).square().mean();
    loss.backward();
    weight.data().sub_(weight.grad() * 0.1);
    weight.grad().data().zero_();
    log.number(loss.item<double>());
    log.parameter(weight);
    log.integer(weight.data()._version());
  }
}

// A backward after the step that changed what it needs.
void losses_after_the_step(int steps, Log& log) {
  nn::Sequential net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1));
  optim::SGD optimizer(net->parameters(), 0.05);
  const auto x = groove::randn({5, 3});
  for (int step = 0; step < steps; ++step) {
    auto first = net->forward(x).square().mean(), second = net->forward(x * 2).mean();
    optimizer.zero_grad();
    first.backward();
    optimizer.step();
    second.backward();
    log.parameters(net->parameters());
  }
}

// One whose step counts: of one layer the gradient does not need the weight.
void losses_that_need_no_weight(int steps, Log& log) {
  nn::Linear layer(3, 1);
  optim::Adam optimizer(layer->parameters(), 0.05);
  const auto x = groove::randn({5, 3});
  for (int step = 0; step < steps; ++step) {
    auto loss = layer(x).square().mean(), other = layer(x).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    other.backward();
    log.parameters(layer->parameters());
  }
}

void views_without_grad(int steps, Log& log) {
  auto weight = groove::randn({2, 4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    Tensor row, all;
    {
      NoGradGuard guard;
      row = weight[0];
      all = weight.view({8});
      row.mul_(0.99);
    }
    auto loss = (weight * 2).sum() + row.detach().sum();
    loss.backward();
    log.number(loss.item<double>());
    log.integer(all.requires_grad());
    log.integer(row.is_leaf());
    log.parameter(weight);
    descend({weight});
  }
}

// Their results require a gradient that leads nowhere.
void results_of_views_without_grad(int steps, Log& log) {
  auto weight = groove::randn({2, 4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    Tensor row;
    {
      NoGradGuard guard;
      row = weight[1];
    }
    auto lost = row * 3;
    auto loss = (lost * weight).sum();
    loss.backward();
    log.integer(lost.requires_grad());
    log.tensor(lost);
    log.number(loss.item<double>());
    log.parameter(weight);
    descend({weight});
  }
}

void gradients_kept_over_writes(int steps, Log& log) {
  auto weight = groove::randn({2, 4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto hidden = weight * 2;
    hidden.retain_grad();
    auto row = hidden[0];
    row.retain_grad();
    hidden.mul_(3);
    row.mul_(0.5);
    ((row * 7).sum() + hidden.square().sum()).backward();
    log.tensor(hidden.grad());
    log.tensor(row.grad());
    log.integer(hidden.retains_grad());
    log.parameter(weight);
    descend({weight});
  }
}

void bools_as_indices(int steps, Log& log) {
  auto weight = groove::randn({3, 4}).requires_grad_();
  const auto rows = groove::tensor({1, 0, 1}).to(kBool);
  const auto columns = groove::tensor({0, 1, 1, 0}).to(kBool);
  for (int step = 0; step < steps; ++step) {
    auto copy = weight.index({true});
    auto chosen = weight.index({rows, columns});
    auto same = weight.index({"..."});
    auto table = weight * 1;
    table.index_put_({Slice(0, 2), Slice()}, groove::ones({1, 1, 4}));
    auto loss = copy.sum() + chosen.square().sum() + (same * 0.5).sum() + table.sum();
    loss.backward();
    log.number(loss.item<double>());
    log.integer(copy.is_alias_of(weight));
    log.parameter(weight);
    descend({weight});
  }
}

// Where the parts begin moves: now and then they meet, which is an error before anything changes.
void parts_that_meet(int steps, Log& log) {
  auto table = groove::arange(12).to(kFloat);
  for (int step = 0; step < steps; ++step) {
    const int from = step % 5 == 4 ? 1 : 4 + step % 3;
    try {
      table.narrow(0, 0, 3).add_(table.narrow(0, from, 3));
      log.line("apart");
    } catch (const Error&) {
      log.line("meet");
    }
    log.tensor(table);
  }
}

// The same of inputs that were two in the recording.
void inputs_that_meet(int steps, Log& log) {
  auto table = groove::arange(8).to(kFloat), other = groove::arange(8).to(kFloat);
  for (int step = 0; step < steps; ++step) {
    auto target = table.narrow(0, 0, 4).detach();
    const bool meet = step > 6 && step % 4 == 3;  // when the loop has been compiled
    auto source = (meet ? table : other).narrow(0, 2, 4).detach();
    log.number(other.sum().item<double>());
    try {
      target.add_(source);
      log.line("apart");
    } catch (const Error&) {
      log.line("meet");
    }
    log.tensor(table);
  }
}

struct WeightedSum : autograd::Function<WeightedSum> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x, TensorList parts,
                        double factor) {
    context->saved_data["factor"] = factor;
    context->saved_data["parts"] = static_cast<std::int64_t>(parts.size());
    Tensor sum = x * factor;
    for (const Tensor& part : parts) sum = sum + part * part;
    variable_list saved(parts.begin(), parts.end());
    context->save_for_backward(saved);
    return sum;
  }
  using variable_list = autograd::variable_list;
  static variable_list backward(autograd::AutogradContext* context, variable_list gradients) {
    variable_list result{gradients[0] * context->saved_data["factor"].toDouble()};
    for (const Tensor& part : context->get_saved_variables())
      result.push_back(gradients[0] * part * 2);
    result.emplace_back();
    return result;
  }
};

void functions_of_lists(int steps, Log& log) {
  auto a = groove::randn({3}).requires_grad_(), b = groove::randn({3}).requires_grad_(),
       c = groove::randn({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const std::vector<Tensor> parts{b, c};
    auto loss = WeightedSum::apply(a, TensorList(parts), 2.0).sum();
    loss.backward();
    log.number(loss.item<double>());
    for (const Tensor& each : {a, b, c}) log.parameter(each);
    descend({a, b, c});
  }
}

// A leaf made anew in each step, with a hook of its own.
void hooks_on_new_leaves(int steps, Log& log) {
  for (int step = 0; step < steps; ++step) {
    auto x = (groove::arange(4).to(kFloat) + 1).requires_grad_();
    const unsigned hook = x.register_hook([](Tensor gradient) { return gradient * 2; });
    if (step % 3 == 2) x.remove_hook(hook);
    (x * 3).sum().backward();
    log.parameter(x);
  }
}

void bounds_that_are_nan(int steps, Log& log) {
  auto weight = groove::randn({6}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const double low = step % 5 == 4 ? std::nan("") : -0.5;
    auto kept = weight.clamp(low, 0.5);
    kept.sum().backward();
    log.tensor(kept);
    log.parameter(weight);
    weight.mutable_grad() = Tensor();
  }
}

}  // namespace

const std::vector<Loop>& rule_loops() {
  static const std::vector<Loop> all{
      {"steps_through_data", steps_through_data},
      {"losses_after_the_step", losses_after_the_step},
      {"losses_that_need_no_weight", losses_that_need_no_weight},
      {"views_without_grad", views_without_grad},
      {"results_of_views_without_grad", results_of_views_without_grad},
      {"gradients_kept_over_writes", gradients_kept_over_writes},
      {"bools_as_indices", bools_as_indices},
      {"parts_that_meet", parts_that_meet},
      {"inputs_that_meet", inputs_that_meet},
      {"functions_of_lists", functions_of_lists},
      {"hooks_on_new_leaves", hooks_on_new_leaves, false},
      {"bounds_that_are_nan", bounds_that_are_nan},
  };
  return all;
}

}  // namespace groove::testing
