// Loops that write through views of something that has, or so gets, a gradient history, and go on
// with it beyond the stretch that wrote.
#include <groove/groove.h>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

void descend(const std::vector<Tensor>& parameters) {
  NoGradGuard guard;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    parameter.sub_(parameter.grad() * 0.05);
    parameter.mutable_grad() = Tensor();
  }
}

// Results are put into the rows of a table; the loss is looked at before it is followed.
void rows_of_a_table(int steps, Log& log) {
  auto weight = groove::randn({4, 4}).mul_(0.4).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto table = groove::zeros({3, 2, 4});
    auto state = groove::randn({2, 4});
    for (int t = 0; t < 3; ++t) {
      state = groove::tanh(state.mm(weight));
      table[t] = state;
    }
    auto loss = (table * table).mean();
    log.number(loss.item<double>());
    loss.backward();
    log.parameter(weight);
    descend({weight});
  }
}

// Each row in a stretch of its own: where it is written moves.
void rows_that_move(int steps, Log& log) {
  auto weight = groove::randn({4, 4}).mul_(0.4).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const int length = 4;
    auto table = groove::zeros({length, 4});
    auto state = groove::randn({1, 4});
    for (int t = 0; t < length; ++t) {
      state = groove::tanh(state.mm(weight));
      table.select(0, t).copy_(state.squeeze(0));
      table.narrow(0, t, 1).mul_(1.5);
      log.number(state.sum().item<double>());
    }
    table.square().mean().backward();
    log.parameter(weight);
    descend({weight});
  }
}

// One buffer for all steps, a ring, whose history is cut now and then.
void ring(int steps, Log& log) {
  auto weight = groove::randn({4}).mul_(0.4).requires_grad_();
  auto buffer = groove::zeros({3, 4});
  for (int step = 0; step < steps; ++step) {
    buffer[step % 3] = groove::tanh(buffer.select(0, (step + 2) % 3) + weight);
    log.number(buffer.sum().item<double>());
    if (step % 3 != 2) continue;
    buffer.square().mean().backward();
    log.parameter(weight);
    descend({weight});
    buffer = buffer.detach();
  }
}

// Writes of which the gradient needs what was there, through views of views.
void parts_scaled(int steps, Log& log) {
  auto weight = groove::randn({4, 6}).mul_(0.4).requires_grad_();
  auto scale = groove::ones({2, 3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto mixed = groove::randn({4, 4}).mm(weight);
    mixed.narrow(0, 1, 2).narrow(1, 2, 3).mul_(scale);
    mixed.t().select(0, 5).add_(scale.sum());
    mixed.view({2, 2, 6}).select(0, 1).slice(1, 0, 6, 2) *= 0.5;
    auto loss = mixed.exp().sum();
    log.number(loss.item<double>());
    loss.backward();
    log.parameter(weight);
    log.parameter(scale);
    descend({weight, scale});
  }
}

// A view that was taken before the write shows it, and has its history.
void view_from_before(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto whole = groove::randn({3, 4}) * weight;
    auto row = whole.select(0, 1), column = whole.select(1, 2);
    whole.narrow(0, 1, 2).mul_(weight);
    auto after = row * 2;
    log.number(after.sum().item<double>());
    (row.square().sum() + column.sum() + after.sum()).backward();
    log.parameter(weight);
    descend({weight});
  }
}

// The written tensor alone is used up by the first of two backwards.
void two_backwards(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto whole = groove::zeros({2, 4});
    whole[0] = weight.exp();
    whole[1] = weight * 2;
    auto first = whole.square().sum(), second = (whole[1] * 3).sum();
    log.number(first.item<double>());
    second.backward({}, step % 2 == 0);
    try {
      first.backward();
    } catch (const Error& error) {
      log.line(error.what());
    }
    log.parameter(weight);
    descend({weight});
  }
}

// A gradient that has a gradient goes through the write twice.
void second_order(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto whole = groove::zeros({2, 4});
    whole[0] = weight.exp();
    whole.narrow(0, 0, 2).mul_(weight);
    auto loss = (whole * whole).sum();
    log.number(loss.item<double>());
    const auto slope = autograd::grad({loss}, {weight}, {}, true, true)[0];
    slope.square().sum().backward();
    log.parameter(weight);
    descend({weight});
  }
}

// A view is an input of the loop long before its base gets a history.
void base_that_joins_late(int steps, Log& log) {
  auto weight = groove::randn({4}).requires_grad_();
  auto base = groove::rand({3, 4});
  auto row = base.select(0, 1);
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) base.mul_(weight);
    auto loss = (row * weight).square().sum();
    log.number(loss.item<double>());
    log.tensor(autograd::grad({loss}, {weight}, {}, true)[0]);
  }
}

// Written in place, what had no history gets one, and the program asks at once.
void flags_of_written_inputs(int steps, Log& log) {
  const auto weight = groove::randn({3}).requires_grad_();
  auto held = groove::zeros({3});
  for (int step = 0; step < steps; ++step) {
    const auto alias = held.view({3});
    log.integer(alias.requires_grad());
    held.add_(weight, 0.5 + step);
    log.integer(held.requires_grad());
    log.integer(alias.requires_grad());
    auto loss = (held * alias).sum();
    loss.backward();
    held = held.detach() * 0.5;
    log.number(loss.item<double>());
  }
  log.parameter(weight);
}

void leaves_that_are_written(int steps, Log& log) {
  const auto weight = groove::randn({3}).requires_grad_();
  auto held = groove::zeros({3});
  for (int step = 0; step < steps; ++step) {
    const auto same = held.contiguous();
    held.add_(weight, 0.5 + step);
    log.integer(same.is_leaf());
    log.integer(same.requires_grad());
    (held * held).sum().backward();
    held = held.detach();
    log.tensor(held);
  }
  log.parameter(weight);
}

void flags_of_written_results(int steps, Log& log) {
  const auto weight = groove::randn({3}).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    auto made = groove::ones({2, 3}) * (1 + step);
    const auto row = made[1];
    log.integer(made.requires_grad());
    log.integer(row.requires_grad());
    made.mul_(weight);
    log.integer(made.requires_grad());
    log.integer(row.requires_grad());
    auto loss = (made.sum(0) * row).sum();
    loss.backward();
    log.number(loss.item<double>());
  }
  log.parameter(weight);
}

// What would write to a copy that nothing else sees is refused, each time; not so through a view.
void writes_that_would_be_lost(int steps, Log& log) {
  auto weight = groove::randn({4, 3}).requires_grad_();
  auto table = groove::zeros({4, 3});
  const auto rows = groove::tensor({0, 2});
  const auto attempt = [&](const auto& write) {
    try {
      write();
      log.line("written");
    } catch (const Error& error) {
      log.line(error.what());
    }
  };
  for (int step = 0; step < steps; ++step) {
    auto x = table * 0.5 + 1.0;
    attempt([&] { x.index({rows}) = 3.0; });
    attempt([&] { x[1] = 2.0; });
    attempt([&] { x.index({rows}) = x.narrow(0, 0, 2) * 2.0; });
    attempt([&] { x.index({indexing::Slice(1, 3)}) = x.narrow(0, 0, 2); });
    attempt([&] { x * 2.0 = x; });
    attempt([&] { (x * 2.0)[1] = 1.0; });
    auto kept = x.index({rows});
    if (step % 5 == 3) log.number(kept.sum().item<double>());
    const auto other = step % 3 == 2 ? kept : x;
    attempt([&] { std::move(kept) = 5.0; });
    auto product = weight * x;
    attempt([&] { product.index({rows}) = 1.0; });
    attempt([&] { product.exp() = 1.0; });
    auto row = product.square()[0];
    attempt([&] { std::move(row) = 0.5; });
    log.tensor(x);
    log.tensor(other);
    log.tensor(row);
    (product.sum() + row.sum()).backward();
    descend({weight});
    table = x;
    attempt([&] { x[x > 1] = 1; });
    // A view whose base is gone; without gradients it does not keep the base itself.
    for (const bool records : {false, true}) {
      const AutoGradMode mode(records);
      auto base = weight * 2.0;
      auto view = base[1];
      auto both = base.narrow(0, 0, 2);
      if (step % 2) base = Tensor();
      attempt([&] { std::move(view) = 4.0; });
      auto last = both[0];
      both = Tensor();
      view = Tensor();
      if (step % 4 == 3) log.tensor(last);
      attempt([&] { std::move(last) = 6.0; });
    }
  }
  log.parameters({weight});
}

}  // namespace

const std::vector<Loop>& view_loops() {
  static const std::vector<Loop> all{
      {"rows_of_a_table", rows_of_a_table},
      {"rows_that_move", rows_that_move},
      {"ring_with_history", ring},
      {"parts_scaled", parts_scaled},
      {"view_from_before", view_from_before},
      {"two_backwards", two_backwards},
      {"second_order_of_writes", second_order},
      {"base_that_joins_late", base_that_joins_late},
      {"flags_of_written_inputs", flags_of_written_inputs},
      {"leaves_that_are_written", leaves_that_are_written},
      {"flags_of_written_results", flags_of_written_results},
      {"writes_that_would_be_lost", writes_that_would_be_lost},
  };
  return all;
}

}  // namespace groove::testing
