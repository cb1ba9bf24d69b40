// Loops in which what a segment relies on changes: other names for memory that is read, optimizers
// made again, hooks that come and go beside a branch, memory of the program's own that is written.
#include <groove/groove.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

void descend(const std::vector<Tensor>& leaves) {
  NoGradGuard guard;
  for (const Tensor& leaf : leaves) {
    leaf.sub_(leaf.grad() * 0.05);
    leaf.mutable_grad() = Tensor();
  }
}

// A read in the middle of the iteration, after the write through what is now and then an alias.
void aliases_now_and_then(int steps, Log& log) {
  auto p = groove::randn({8}), q = groove::randn({8}), state = groove::randn({8});
  const auto alias = p.detach();
  for (int step = 0; step < steps; ++step) {
    const Tensor written = step % 5 == 4 ? alias : q;
    auto before = p * 2;
    written.add_(1);
    auto after = p * 3 + before;
    log.number(after.sum().item<double>());
    state = (state * 0.3 + after).tanh();
    log.tensor(state);
  }
}

void views_now_and_then(int steps, Log& log) {
  auto base = groove::randn({12}), other = groove::randn({6}), state = groove::randn({6});
  const auto read = base.narrow(0, 0, 6), overlapping = base.narrow(0, 3, 6);
  for (int step = 0; step < steps; ++step) {
    const Tensor& written = step % 5 == 4 ? overlapping : other;
    auto before = read * 2;
    written.add_(1);
    auto after = read * 3 + before;
    log.number(after.sum().item<double>());
    state = (state * 0.3 + after).tanh();
    log.tensor(state);
  }
}

void data_now_and_then(int steps, Log& log) {
  auto p = groove::randn({8}), q = groove::randn({8}), own = groove::randn({8}),
       state = groove::randn({8});
  for (int step = 0; step < steps; ++step) {
    if (step % 5 == 4) q.set_data(p);
    if (step % 5 == 0) q.set_data(own);
    auto before = p * 2;
    q.add_(1);
    auto after = p * 3 + before;
    log.number(after.sum().item<double>());
    state = (state * 0.3 + after).tanh();
    log.tensor(state);
  }
}

// A result that was looked at gets another's memory before the run that made it is left.
void result_gets_other_memory(int steps, Log& log) {
  auto x = groove::randn({8}), other = groove::randn({8});
  for (int step = 0; step < steps; ++step) {
    auto made = x * 2;
    made.add_(1);
    log.number(made.select(0, 0).item<double>());
    if (step % 5 == 4) made.set_data(other);
    x = (x * 0.3 + other).tanh();
    if (step % 5 == 4) x = x.sin() + made;
    log.tensor(x);
  }
}

// A model is made in the run, and an optimizer over it now and then: in other rounds the optimizer
// is an older model's, whose gradients came in that run.
void optimizer_of_an_older_model(int steps, Log& log) {
  const auto x = groove::randn({4, 4}), p = groove::randn({4, 4}).requires_grad_();
  nn::Linear net(4, 4);
  nn::GRUCell cell(4, 4);
  optim::Adam other({p}, optim::AdamOptions(0.01));
  const auto of_both = [&] {
    std::vector<Tensor> all = net->parameters();
    for (const Tensor& parameter : cell->parameters()) all.push_back(parameter);
    return std::make_unique<optim::AdamW>(all, optim::AdamWOptions(0.01));
  };
  auto optimizer = of_both();
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 5; ++i) {
      other.zero_grad();
      cell->forward(x).pow(2).mean().backward();
      other.step();
    }
    if (step % 5 == 0) cell = nn::GRUCell(4, 4);
    if (step % 23 == 5) optimizer = of_both();
    for (int i = 0; i < 3; ++i) {
      optimizer->zero_grad();
      net->forward(x).pow(2).mean().backward();
      optimizer->step();
    }
    log.number(static_cast<double>(optimizer->state().size()));
  }
  for (auto& group : optimizer->param_groups())
    for (const Tensor& parameter : group.params()) log.parameter(parameter);
}

// Two leaves that now and then are one, to which all of the gradient goes.
void one_leaf_by_two_names(int steps, Log& log) {
  auto p = groove::randn({3}).requires_grad_(), q = groove::randn({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const auto a = p, b = step % 5 == 4 ? p : q;
    p.mutable_grad() = q.mutable_grad() = Tensor();
    const auto u = a * 2.0, v = b * 3.0;
    (u + v * v).sum().backward();
    log.tensor(p.grad());
  }
}

// … of which the history is walked later.
void one_result_by_two_names(int steps, Log& log) {
  auto p = groove::randn({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const auto first = (p * 1.5).tanh(), other = (p * 0.5).sin();
    log.number(first.sum().item<double>() + other.sum().item<double>());
    const auto a = first, b = step % 5 == 4 ? first : other;
    const auto u = a * 0.3, v = b * 0.7;
    (u.exp() + v * v).sum().backward();
    log.tensor(p.grad());
    p.mutable_grad() = Tensor();
  }
}

void gradients_in_one_buffer(int steps, Log& log) {
  auto a = groove::randn({4}).requires_grad_(), b = groove::randn({4}).requires_grad_();
  auto flat = groove::zeros({8}), own = groove::zeros({4});
  a.mutable_grad() = flat.narrow(0, 0, 4);
  for (int step = 0; step < steps; ++step) {
    b.mutable_grad() = step % 5 == 4 ? flat.narrow(0, 2, 4) : own;
    auto loss = (a * b).tanh().sum();
    loss.backward();
    log.number(flat.sum().item<double>());
    NoGradGuard guard;
    a.sub_(a.grad() * 0.01);
    b.sub_(b.grad() * 0.01);
    flat.mul_(0.5);
    own.mul_(0.5);
    log.tensor(flat);
  }
}

// The optimizer is another one every few steps, often at the same address.
template <typename Optimizer, typename Options>
void optimizers_made_again(
    int steps, Log& log, const Options& options,
    const std::function<void(Optimizer&, const Tensor&)>& at_end = [](Optimizer&, const Tensor&) {
    }) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < 4 * steps;) {
    Optimizer optimizer({weight}, options);
    for (int inner = 0; inner < 6; ++inner, ++step) {
      optimizer.zero_grad();
      auto loss = (weight * weight).tanh().sum();
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
      log.parameter(weight);
    }
    at_end(optimizer, weight);
  }
}
void adams_made_again(int steps, Log& log) {
  optimizers_made_again<optim::Adam>(steps, log, optim::AdamOptions(0.01).amsgrad(true));
}
// What has been an optimizer's state is the program's own from then on.
void moments_kept_of_adams(int steps, Log& log) {
  std::vector<Tensor> kept;
  optimizers_made_again<optim::Adam>(
      steps, log, optim::AdamOptions(0.01), [&](optim::Adam& adam, const Tensor& weight) {
        auto& state =
            static_cast<optim::AdamParamState&>(*adam.state().at(weight.unsafeGetTensorImpl()));
        kept.push_back(state.exp_avg());
        kept.push_back(state.exp_avg_sq());
        for (const Tensor& moment : kept) log.tensor(moment);
      });
}
void momenta_made_again(int steps, Log& log) {
  optimizers_made_again<optim::SGD>(steps, log,
                                    optim::SGDOptions(0.01).momentum(0.9).dampening(0.5));
}
void rmsprops_made_again(int steps, Log& log) {
  optimizers_made_again<optim::RMSprop>(steps, log, optim::RMSpropOptions(0.01).momentum(0.5));
}
void adagrads_made_again(int steps, Log& log) {
  optimizers_made_again<optim::Adagrad>(steps, log,
                                        optim::AdagradOptions(0.01).initial_accumulator_value(0.1));
}

// Models of one structure in turn, each with an optimizer of its own: one loop on other tensors.
void models_in_turn(int steps, Log& log) {
  std::vector<nn::Linear> models;
  std::vector<optim::Adam> optimizers;
  for (int i = 0; i < 3; ++i) {
    models.emplace_back(3, 2);
    optimizers.emplace_back(models.back()->parameters(), optim::AdamOptions(0.01));
  }
  for (int step = 0; step < 2 * steps; ++step) {
    const auto now = static_cast<std::size_t>((step * step + step / 3) % 3);
    optimizers[now].zero_grad();
    auto loss = models[now]->forward(groove::randn({2, 3})).square().mean();
    loss.backward();
    optimizers[now].step();
    log.number(loss.item<double>());
    log.parameters(models[now]->parameters());
  }
}

// An optimizer that now and then belongs to another model than the one that was trained.
void a_step_of_another_model(int steps, Log& log) {
  nn::Linear one(3, 2), other(3, 2);
  optim::SGD of_one(one->parameters(), optim::SGDOptions(0.1).momentum(0.9)),
      of_other(other->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    one->zero_grad(false);
    auto loss = one->forward(groove::randn({2, 3})).square().mean();
    loss.backward();
    (step % 5 == 4 ? of_other : of_one).step();
    log.number(loss.item<double>());
    log.parameters(one->parameters());
    log.parameters(other->parameters());
    if (step % 5 != 3) continue;
    other->zero_grad();
    other->forward(groove::randn({2, 3})).square().mean().backward();
  }
}

// A copy of the weights is trained in each round, and gone at its end.
void clones_each_round(int steps, Log& log) {
  auto weight = groove::randn({3, 2});
  for (int round = 0; round < steps; ++round) {
    auto fast = weight.clone().requires_grad_();
    optim::SGD inner({fast}, optim::SGDOptions(0.1).momentum(0.5));
    for (int i = 0; i < 3; ++i) {
      inner.zero_grad();
      auto loss = groove::mm(groove::randn({2, 3}), fast).square().mean();
      loss.backward();
      inner.step();
      log.number(loss.item<double>());
    }
    weight = weight * 0.9 + fast.detach() * 0.1;
    log.tensor(weight);
  }
}

// One moment for two parameters, put there by hand, and one parameter in two places of a list.
void state_put_in_place(int steps, Log& log) {
  std::vector<Tensor> weights = {groove::randn({4}).requires_grad_(),
                                 groove::randn({4}).requires_grad_()};
  optim::RMSprop optimizer(weights, optim::RMSpropOptions(0.01));
  const auto average_of = [&](const Tensor& weight) -> Tensor& {
    return static_cast<optim::RMSpropParamState&>(
               *optimizer.state().at(weight.unsafeGetTensorImpl()))
        .square_avg();
  };
  for (int step = 0; step < 2 * steps; ++step) {
    optimizer.zero_grad();
    auto loss = (weights[0] * weights[1]).tanh().sum();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    log.parameters(weights);
    if (step % 7 == 5) average_of(weights[0]) = average_of(weights[1]);
    if (step % 7 == 6) average_of(weights[0]) = groove::full({4}, 0.5);
    log.tensor(average_of(weights[0]));
  }
}

// The calls before the branch are the same with and without the hook.
void hooks_beside_a_branch(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_(), other = groove::randn({4}).requires_grad_();
  int calls = 0;
  unsigned hook = 0;
  for (int step = 0; step < 3 * steps; ++step) {
    if (step % 12 == 6)
      hook = weight.register_hook([&calls](Tensor gradient) {
        ++calls;
        return gradient * 2;
      });
    if (step % 12 == 0 && step > 0) weight.remove_hook(hook);
    auto shared = (weight * other + 1) * 0.5;
    auto loss = step % 3 == 2 ? shared.tanh().sum() : (shared.sigmoid() * 2).sum();
    loss.backward();
    log.number(loss.item<double>());
    log.parameter(weight);
    log.integer(calls);
    descend({weight, other});
  }
}

// Written in place by runs that are left now and then, because the program keeps a result.
void blobs_written_in_place(int steps, Log& log) {
  std::array<float, 8> memory;
  memory.fill(1);
  auto blob = groove::from_blob(memory.data(), {8});
  const auto change = groove::randn({8}) * 0.01;
  auto state = groove::randn({8});
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    auto twice = state * 2, more = twice + 1;
    if (step % 4 == 3) kept.push_back(twice);
    blob.add_(change);
    state = (more * 0.5).tanh();
    for (const float value : memory) log.number(value);
  }
  log.tensor(state);
}

void parameters_in_blobs(int steps, Log& log) {
  std::array<float, 8> memory;
  memory.fill(0.5f);
  auto weight = groove::from_blob(memory.data(), {8}).requires_grad_();
  const auto x = groove::randn({8});
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    auto product = weight * x;
    if (step % 4 == 3) kept.push_back(product);
    auto loss = product.tanh().sum();
    loss.backward();
    log.number(loss.item<double>());
    log.parameter(weight);
    descend({weight});
    for (const float value : memory) log.number(value);
  }
}

// Too much to be kept as it was when it was read.
void pointers_into_large_memory(int steps, Log& log) {
  auto large = groove::zeros({(4 << 20) + 1024});
  auto* const memory = large.data_ptr<float>();
  for (int step = 0; step < std::min(steps, 8); ++step) {
    auto twice = large * 2;
    large.add_(1);
    log.number(memory[step * 1001]);
    memory[77] = static_cast<float>(step);
    log.number((large + twice).sum().item<double>());
  }
}

// The error is the backward's, whose saved tensor was written by another name.
void saved_by_another_name(int steps, Log& log) {
  const auto p = groove::randn({4}).requires_grad_();
  auto x = groove::randn({4}), other = groove::randn({4});
  for (int step = 0; step < steps; ++step) {
    auto loss = (p * x.detach()).sin().sum();
    (step % 5 == 4 ? x : other).add_(1);
    try {
      loss.backward();
      log.number(1);
    } catch (const Error&) {
      log.number(0);
    }
    if (step % 3 == 2) log.tensor(p.grad());
  }
}

// The order in which the gradients are added is that of the tape.
void gradients_that_overlap(int steps, Log& log) {
  const auto drawn = [](IntArrayRef sizes) { return groove::randn(sizes).requires_grad_(); };
  const auto p = drawn({4, 4}), q = drawn({4, 4});
  const auto x = groove::randn({4, 4}), target = groove::randn({4, 4}), base = groove::randn({32});
  for (int step = 0; step < steps; ++step) {
    auto loss = q.mm(x).relu().square().mean();
    loss = loss + (x.mm(p).tanh() - target).square().mean();
    q.mutable_grad() = base.narrow(0, 0, 16).view({4, 4});
    p.mutable_grad() = base.narrow(0, 8, 16).view({4, 4});
    log.number(x.mean().item<double>());
    loss.backward();
    log.tensor(p.grad());
    log.tensor(q.grad());
  }
}

// A loss that was computed with a gradient has one, whatever became of the flag since.
void flags_cleared_before_backward(int steps, Log& log) {
  const auto p = groove::randn({3, 3}).requires_grad_();
  const auto x = groove::randn({3, 3});
  for (int step = 0; step < steps; ++step) {
    log.number(x.mean().item<double>());
    auto loss = p.mm(x).relu().square().mean();
    p.requires_grad_(false);
    log.number(x.sum().item<double>());
    loss.backward();
    p.requires_grad_(true);
    log.tensor(p.grad());
  }
}

// A row of the original and another of its copy are written in turn.
void rows_of_a_copy(int steps, Log& log) {
  auto table = groove::randn({4, 4}), weight = groove::randn({4, 4});
  const auto row = groove::randn({4});
  for (int step = 0; step < steps; ++step) {
    auto copy = table.clone();
    table[step % 4].copy_(row * step);
    copy[3].copy_(weight[2]);
    weight = (copy * weight).sin();
    log.tensor(table);
    log.tensor(weight);
  }
}

}  // namespace

const std::vector<Loop>& hazard_loops() {
  static const std::vector<Loop> all{
      {"aliases_now_and_then", aliases_now_and_then},
      {"views_now_and_then", views_now_and_then},
      {"data_now_and_then", data_now_and_then},
      {"result_gets_other_memory", result_gets_other_memory},
      {"optimizer_of_an_older_model", optimizer_of_an_older_model, false},
      {"one_leaf_by_two_names", one_leaf_by_two_names},
      {"one_result_by_two_names", one_result_by_two_names},
      {"gradients_in_one_buffer", gradients_in_one_buffer, false},
      {"models_in_turn", models_in_turn},
      {"a_step_of_another_model", a_step_of_another_model, true, 0.5},
      {"clones_each_round", clones_each_round},
      {"state_put_in_place", state_put_in_place, true, 0.5},
      {"adams_made_again", adams_made_again},
      {"moments_kept_of_adams", moments_kept_of_adams},
      {"momenta_made_again", momenta_made_again},
      {"rmsprops_made_again", rmsprops_made_again},
      {"adagrads_made_again", adagrads_made_again},
      {"hooks_beside_a_branch", hooks_beside_a_branch},
      {"blobs_written_in_place", blobs_written_in_place, false},
      {"parameters_in_blobs", parameters_in_blobs, false},
      {"rows_of_a_copy", rows_of_a_copy},
      {"pointers_into_large_memory", pointers_into_large_memory},
      {"saved_by_another_name", saved_by_another_name},
      {"gradients_that_overlap", gradients_that_overlap},
      {"flags_cleared_before_backward", flags_cleared_before_backward, false},
  };
  return all;
}

}  // namespace groove::testing
