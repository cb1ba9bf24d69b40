// Loops that keep gradients for longer than a step: their memory may be that of the compiled loop,
// which needs it again.
#include <groove/groove.h>

#include <thread>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

struct Net : nn::Module {
  Net() {
    up = register_module("up", nn::Linear(24, 32));
    down = register_module("down", nn::Linear(32, 24));
  }
  Tensor forward(const Tensor& x) {
    return down->forward(groove::tanh(up->forward(groove::gelu(x)))) + x;
  }
  nn::Linear up{nullptr}, down{nullptr};
};

// The loss of one step, its gradients in place.
Tensor loss_of(Net& net, const Tensor& x) {
  Tensor loss = net.forward(net.forward(x)).pow(2).mean();
  loss.backward();
  return loss;
}

Tensor batch(int step) { return groove::sin(groove::arange(16 * 24) * 0.1 + step).view({16, 24}); }

template <typename Keep>
void train(int steps, Log& log, const Keep& keep) {
  Net net;
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.05).momentum(0.5));
  for (int step = 0; step < steps; ++step) {
    const Tensor x = batch(step);
    optimizer.zero_grad();
    const Tensor loss = loss_of(net, x);
    optimizer.step();
    keep(step, net);
    log.number(loss.item<double>());
  }
  log.parameters(net.parameters());
}

void looked_at_once_in_a_while(int steps, Log& log) {
  train(steps, log, [&](int step, Net& net) {
    if (step % 3 == 2) log.parameters(net.parameters());
  });
}

void kept_for_good(int steps, Log& log) {
  std::vector<Tensor> kept;
  train(steps, log, [&](int step, Net& net) {
    if (step % 4 == 3) kept.push_back(net.up->weight.grad());
    for (const Tensor& grad : kept) log.tensor(grad);
  });
}

void kept_for_a_step(int steps, Log& log) {
  Tensor before;
  train(steps, log, [&](int, Net& net) {
    if (before.defined()) log.tensor(before);
    before = net.down->weight.grad();
  });
}

void kept_as_a_view(int steps, Log& log) {
  std::vector<Tensor> kept;
  train(steps, log, [&](int step, Net& net) {
    if (step % 5 == 4) kept.push_back(net.up->weight.grad().view({-1}).slice(0, 3, 40));
    for (const Tensor& part : kept) log.tensor(part);
  });
}

void kept_as_a_pointer(int steps, Log& log) {
  train(steps, log, [&](int step, Net& net) {
    if (step % 3 != 1) return;
    float* const grad = net.up->weight.grad().data_ptr<float>();
    log.number(grad[5]);
    grad[5] = 7;
    log.tensor(net.up->weight.grad());
  });
}

void kept_by_another_thread(int steps, Log& log) {
  std::thread reader;
  double sum = 0;
  train(steps, log, [&](int step, Net& net) {
    if (step % 2 == 0) return;
    if (reader.joinable()) reader.join();
    log.number(sum);
    reader = std::thread(
        [grad = net.down->weight.grad(), &sum] { sum = grad.sum().item<double>(); });
  });
  if (reader.joinable()) reader.join();
  log.number(sum);
}

void handed_on_to_another_parameter(int steps, Log& log) {
  Net other;
  train(steps, log, [&](int step, Net& net) {
    if (step % 4 == 1) other.up->weight.mutable_grad() = net.up->weight.grad();
    if (other.up->weight.grad().defined()) log.tensor(other.up->weight.grad());
  });
}

// The step comes first, with the gradients of the last one.
void used_at_the_head_of_the_next_step(int steps, Log& log) {
  Net net;
  optim::Adam optimizer(net.parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < steps; ++step) {
    const Tensor x = batch(step);
    optimizer.step();
    optimizer.zero_grad();
    log.number(loss_of(net, x).item<double>());
  }
  log.parameters(net.parameters());
}

void added_up_over_two_steps(int steps, Log& log) {
  Net net;
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.05));
  for (int step = 0; step < steps; ++step) {
    log.number(loss_of(net, batch(step)).item<double>());
    if (step % 2 == 0) continue;
    optimizer.step();
    optimizer.zero_grad();
  }
  log.parameters(net.parameters());
}

void two_ways_through_one_loop(int steps, Log& log) {
  Net net;
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.05));
  Tensor kept;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    Tensor loss = net.forward(batch(step)).pow(2).mean();
    if (step % 3 == 1) loss = loss * 2 + net.up->weight.pow(2).sum() * 0.01;
    loss.backward();
    optimizer.step();
    if (step % 4 == 2) kept = net.up->weight.grad();
    if (kept.defined()) log.tensor(kept);
    log.number(loss.item<double>());
  }
  log.parameters(net.parameters());
}

}  // namespace

const std::vector<Loop>& grad_loops() {
  static const std::vector<Loop>& all = *new std::vector<Loop>{
      {"LookedAtOnceInAWhile", looked_at_once_in_a_while},
      {"KeptForGood", kept_for_good},
      {"KeptForAStep", kept_for_a_step},
      {"KeptAsAView", kept_as_a_view},
      {"KeptAsAPointer", kept_as_a_pointer},
      {"KeptByAnotherThread", kept_by_another_thread},
      {"HandedOnToAnotherParameter", handed_on_to_another_parameter},
      {"UsedAtTheHeadOfTheNextStep", used_at_the_head_of_the_next_step},
      {"AddedUpOverTwoSteps", added_up_over_two_steps},
      {"TwoWaysThroughOneLoop", two_ways_through_one_loop},
  };
  return all;
}

}  // namespace groove::testing
