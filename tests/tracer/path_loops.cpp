#include "tests/tracer/path_loops.h"

#include <groove/groove.h>

#include <cstdio>

namespace groove::testing {
namespace {

using HalfWay = void (*)();

void write(std::string& log, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a\n", value);
  log += text;
}

void write(std::string& log, const Tensor& value) {
  if (!value.defined()) {
    log += "undefined\n";
    return;
  }
  const Tensor dense = value.detach().to(kDouble).contiguous();
  for (std::int64_t i = 0; i < dense.numel(); ++i) write(log, dense.const_data_ptr<double>()[i]);
  log += std::to_string(value._version()) + "\n";
}

void write_all(std::string& log, const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    write(log, parameter);
    write(log, parameter.grad());
  }
  write(log, groove::rand({2}));
}

// Choices that have nothing to do with Groove's own random state.
struct Choices {
  std::uint64_t state = 88172645463325252u;
  int below(int bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<int>(state % static_cast<std::uint64_t>(bound));
  }
};

struct NetImpl : nn::Module {
  NetImpl(int inputs, int hidden, int outputs) {
    first = register_module("first", nn::Linear(inputs, hidden));
    second = register_module("second", nn::Linear(hidden, outputs));
  }
  Tensor forward(const Tensor& x) { return second(groove::relu(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Net);

// A branch on a value that was looked at, both ways at random.
void branch(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto loss = net(groove::randn({3, 4})).square().mean();
    if (loss.item<double>() > 0.4)
      loss = (loss * 0.5).sqrt();
    else
      loss = loss + 0.1;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// Branches within branches, on choices of the program's own.
void nested_branches(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  Choices choices;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto out = net(groove::randn({3, 4}));
    if (choices.below(2) == 0) {
      out = out.tanh();
      if (choices.below(2) == 0) out = out * 2.0;
    } else {
      out = out.sigmoid();
      if (choices.below(3) == 0) out = out.exp() - 1.0;
    }
    auto loss = out.square().mean();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// Two optimizers take turns after the same forward pass.
void taking_turns(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD first(net->first->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  optim::Adam second(net->second->parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    net->zero_grad();
    auto loss = (net(groove::randn({3, 4})) - 0.5).square().mean();
    loss.backward();
    if (step % 2 == 0)
      first.step();
    else
      second.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// An evaluation every few steps, and the loss printed every tenth.
void now_and_then(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  const auto test = groove::rand({6, 4});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    if (step % 10 == 0) write(log, loss.item<double>());
    loss.backward();
    optimizer.step();
    if (step % 4 == 0) {
      NoGradGuard no_grad;
      write(log, net(test).argmax(1).sum().item<double>());
    }
  }
  write_all(log, net->parameters());
}

// The update is left out when the loss is small.
void skipped_update(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    const double value = loss.item<double>();
    write(log, value);
    if (value < 0.3) continue;
    optimizer.step();
  }
  write_all(log, net->parameters());
}

// A recurrent net over sequences of 5 to 12 steps.
void lengths(int steps, std::string& log, HalfWay half_way) {
  auto into = groove::randn({3, 6}).mul_(0.3).requires_grad_();
  auto over = groove::randn({6, 6}).mul_(0.3).requires_grad_();
  Choices choices;
  optim::SGD optimizer({into, over}, optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    const int length = 5 + choices.below(8);
    optimizer.zero_grad();
    auto state = groove::zeros({2, 6});
    for (int i = 0; i < length; ++i)
      state =
          groove::tanh(groove::matmul(groove::randn({2, 3}), into) + groove::matmul(state, over));
    auto loss = state.square().mean();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, {into, over});
}

// An episode goes on until a value says that it is over.
void episodes(int steps, std::string& log, HalfWay half_way) {
  auto weight = groove::full({4}, 0.3).requires_grad_();
  optim::Adam optimizer({weight}, optim::AdamOptions(1e-3));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto position = groove::rand({4});
    auto reward = groove::zeros({});
    for (int i = 0; i < 6; ++i) {
      position = position + groove::tanh(weight * position) * 0.5;
      reward = reward + position.mean();
      if (position.max().item<double>() > 1.6) break;
    }
    optimizer.zero_grad();
    auto loss = -reward;
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, {weight});
}

// The last batch of each epoch is smaller.
void ragged(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({step % 5 == 4 ? 2 : 3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// Three shapes take turns.
void shapes(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  Choices choices;
  const std::vector<Tensor> batches = {groove::rand({2, 4}), groove::rand({3, 4}),
                                       groove::rand({7, 4})};
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    const Tensor x = batches[static_cast<std::size_t>(choices.below(3))];
    optimizer.zero_grad();
    auto loss = net(x * 0.5).square().mean();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// Rows of a table, one after the other.
void moving_slice(int steps, std::string& log, HalfWay half_way) {
  auto table = groove::rand({7, 3});
  auto weight = groove::ones({3}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = (table[step % 7] * weight).sum().square();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, {weight});
}

// From the middle on, something is kept that was not kept before.
void late_escape(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  std::vector<Tensor> kept;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    Tensor hidden = groove::relu(net->first(groove::randn({3, 4}))).detach();
    auto loss = net->second(hidden).square().mean();
    if (step > steps / 2 - 4 && step % 2 == 0) kept.push_back(hidden);
    hidden = Tensor();
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  for (const Tensor& tensor : kept) write(log, tensor);
  write_all(log, net->parameters());
}

bool early(Net& net, optim::SGD& optimizer, int step, std::string& log) {
  optimizer.zero_grad();
  auto out = net(groove::randn({3, 4}));
  auto loss = out.square().mean();
  if (step % 3 == 2) return false;
  if (step % 4 == 3) throw Error("given up");
  loss.backward();
  optimizer.step();
  write(log, loss.item<double>());
  return true;
}

// A step that returns early, and one that throws.
void early_return(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    try {
      write(log, early(net, optimizer, step, log));
    } catch (const Error& error) {
      log += error.what();
    }
  }
  write_all(log, net->parameters());
}

// Twenty-seven ways on from the same calls: too many to have them all.
void many_ways(int steps, std::string& log, HalfWay half_way) {
  NoGradGuard no_grad;
  auto a = groove::randn({5});
  Choices choices;
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto y = (((a * 0.5 + 0.1).tanh().exp() - 0.3).sin() * 2).abs() + 0.5;
    for (int part = 0; part < 3; ++part) {
      const auto way = choices.below(3);
      y = way == 0 ? y.cos() : way == 1 ? y.sigmoid() : y.atan();
    }
    a = y - 0.2;
    write(log, a.sum().item<double>());
  }
}

// Calls of the same kind on one of several models.
void ensemble(int steps, std::string& log, HalfWay half_way) {
  std::vector<Net> nets;
  std::vector<std::unique_ptr<optim::Adam>> optimizers;
  for (int i = 0; i < 3; ++i) {
    nets.emplace_back(4, 5, 2);
    optimizers.push_back(
        std::make_unique<optim::Adam>(nets.back()->parameters(), optim::AdamOptions(0.01)));
  }
  Choices choices;
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    const auto which = static_cast<std::size_t>(choices.below(3));
    auto x = groove::randn({3, 4});
    optimizers[which]->zero_grad();
    auto loss = nets[which](x).square().mean();
    loss.backward();
    optimizers[which]->step();
    write(log, loss.item<double>());
  }
  for (Net& net : nets) write_all(log, net->parameters());
}

// A step size that adapts to an error, until the end of an interval is reached.
void adaptive_steps(int steps, std::string& log, HalfWay half_way) {
  NoGradGuard no_grad;
  auto start = groove::rand({5});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto x = start + 0.01 * step;
    double time = 0, by = 0.3;
    while (time < 1.0) {
      auto once = x + by * (x.sin() - x);
      auto half = x + 0.5 * by * (x.sin() - x);
      auto twice = half + 0.5 * by * (half.sin() - half);
      const double error = (once - twice).abs().max().item<double>();
      if (error < 5e-3) {
        x = twice;
        time += by;
        by *= 1.5;
      } else {
        by *= 0.5;
      }
    }
    write(log, x);
  }
}

// A total that is added to and looked at in the same iteration.
void running_total(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  auto total = groove::zeros({});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    total += loss.detach();
    write(log, total.item<double>());
    loss.backward();
    optimizer.step();
  }
  write(log, total);
  write_all(log, net->parameters());
}

// A result that is written after the program has looked at it.
void written_after_a_look(int steps, std::string& log, HalfWay half_way) {
  NoGradGuard no_grad;
  auto state = groove::rand({4});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto next = (state * 0.9 + groove::rand({4}) * 0.1).tanh();
    const double top = next.max().item<double>();
    write(log, next[0].item<double>());
    next.mul_(1.0 / (1.0 + top));
    next.add_(0.01);
    state = next.exp() - 1.0;
    write(log, state.sum().item<double>());
  }
  write(log, state);
}

// A buffer that the program reads through a pointer, right after Groove has written part of it.
void shared_buffer(int steps, std::string& log, HalfWay half_way) {
  NoGradGuard no_grad;
  auto buffer = groove::zeros({2, 4});
  const float* const memory = buffer.data_ptr<float>();
  auto weight = groove::rand({4, 4});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto row = groove::matmul(groove::rand({1, 4}), weight).tanh().squeeze(0);
    buffer[1].copy_(row);
    write(log, static_cast<double>(memory[4 + step % 4]));
    auto after = (buffer.sum(0) + row).sigmoid();
    weight = weight * 0.99 + after * 0.01;
    write(log, after.sum().item<double>());
  }
  write(log, buffer);
  write(log, weight);
}

// The same, but the pointer is taken when the loop runs compiled already.
void late_pointer(int steps, std::string& log, HalfWay half_way) {
  NoGradGuard no_grad;
  auto buffer = groove::zeros({2, 4});
  const float* memory = nullptr;
  auto weight = groove::rand({4, 4});
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    if (step == steps / 3) memory = buffer.data_ptr<float>();
    auto row = groove::matmul(groove::rand({1, 4}), weight).tanh().squeeze(0);
    buffer[1].copy_(row);
    if (memory) write(log, static_cast<double>(memory[4 + step % 4]));
    auto after = (buffer.sum(0) + row).sigmoid();
    weight = weight * 0.99 + after * 0.01;
    write(log, after.sum().item<double>());
  }
  write(log, buffer);
  write(log, weight);
}

// A result is looked at now and then, and on one of two ways written afterwards.
void looked_at_then_written(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  Choices choices;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto out = net(groove::randn({3, 4}));
    auto x = out.detach().tanh().mean();
    if (choices.below(2) == 0) write(log, x.item<double>());
    Tensor loss;
    if (choices.below(2) == 0) {
      x.add_(1.0);
      loss = (out * x).square().mean();
    } else {
      loss = (out - x).square().mean();
    }
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
    write(log, x);
  }
  write_all(log, net->parameters());
}

// What was made before a branch is looked at after it.
void look_after_a_branch(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  Choices choices;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto out = net(groove::randn({3, 4}));
    auto size = out.abs().mean();
    auto loss = choices.below(2) == 0 ? out.square().mean() : (out * out * 0.5).sum();
    write(log, size.item<double>());
    loss.backward();
    optimizer.step();
    write(log, loss.item<double>());
  }
  write_all(log, net->parameters());
}

// Between backward and update a gradient is looked at every few steps, and nothing else tells.
void gradient_read_at_times(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    if (step % 7 == 6) {  // once: a second look would make up for a first one that was lost
      const Tensor grad = net->second->bias.grad();
      const float* const from = grad.const_data_ptr<float>();
      for (int i = 0; i < 2; ++i) write(log, from[i]);
    }
    optimizer.step();
  }
  write_all(log, net->parameters());
}

// Another tensor takes the place of an optimizer's: what was compiled for the old one never runs
// again.
void state_replaced(int steps, std::string& log, HalfWay half_way) {
  Net net(4, 5, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    if (step % 20 == 19)
      for (const Tensor& parameter : net->parameters()) {
        auto& state = static_cast<optim::AdamParamState&>(
            *optimizer.state().at(parameter.unsafeGetTensorImpl()));
        state.exp_avg_sq(state.exp_avg_sq() * 2);
      }
  }
  write_all(log, net->parameters());
}

// Iterations that differ in which layers they use: at first alike but for the parameters, and each
// parameter is at a step of its own, at times by chance the one of another.
void other_layers(int steps, std::string& log, HalfWay half_way) {
  std::vector<nn::Linear> layers;
  std::vector<Tensor> parameters;
  for (int i = 0; i < 4; ++i) {
    layers.emplace_back(4, 4);
    for (const Tensor& each : layers.back()->parameters()) parameters.push_back(each);
  }
  const std::vector<std::vector<std::size_t>> sets = {{0, 2}, {1, 2}, {3, 0}, {2, 3}, {1, 3}};
  Choices choices;
  optim::Adam optimizer(parameters, optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) half_way();
    auto x = groove::randn({3, 4});
    auto y = x;
    for (const std::size_t i : sets[static_cast<std::size_t>(choices.below(5))])
      y = y + groove::tanh(layers[i](y));
    auto loss = (y - x.flip(1)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) write(log, loss.item<double>());
  }
  write_all(log, parameters);
}

}  // namespace

const std::vector<PathLoop>& path_loops() {
  static const std::vector<PathLoop> all = {
      {"branch", branch},
      {"nested_branches", nested_branches},
      {"taking_turns", taking_turns},
      {"now_and_then", now_and_then},
      {"skipped_update", skipped_update},
      {"lengths", lengths},
      {"episodes", episodes},
      {"ragged", ragged},
      {"shapes", shapes},
      {"moving_slice", moving_slice},
      {"gradient_read_at_times", gradient_read_at_times},
      {"state_replaced", state_replaced},
      {"late_escape", late_escape, 0.7},
      {"early_return", early_return},
      {"running_total", running_total},
      {"written_after_a_look", written_after_a_look},
      {"shared_buffer", shared_buffer},
      {"late_pointer", late_pointer},
      {"looked_at_then_written", looked_at_then_written, 0.5},
      {"look_after_a_branch", look_after_a_branch},
      {"many_ways", many_ways, 0.7},
      {"ensemble", ensemble},
      {"other_layers", other_layers},
      {"adaptive_steps", adaptive_steps, 0.8},  // its paths go on changing
  };
  return all;
}

std::string run_path_loop(const PathLoop& loop, int steps, void (*half_way)()) {
  manual_seed(7);
  std::string log;
  loop.run(steps, log, half_way);
  return log;
}

}  // namespace groove::testing
