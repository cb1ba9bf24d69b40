// Loops at sizes that are never the same: what a run takes at sizes seen for the first time and
// again, beside eager mode and a loop of one size. Lines of "name value unit".
#include <groove/groove.h>

#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/median.h"

namespace {

using groove::Tensor;

double microseconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

// Each of `count` sizes once.
std::vector<std::int64_t> shuffled(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < count; ++i) sizes.push_back(first + i * 37 % count);
  return sizes;
}

void measure(const char* name, const std::function<void(std::int64_t)>& step) {
  const std::vector<std::int64_t> first = shuffled(16, 40), sizes = shuffled(64, 200);
  const auto run_all = [&](const std::vector<std::int64_t>& over) {
    std::vector<double> times;
    for (const std::int64_t size : over) times.push_back(microseconds_of([&] { step(size); }));
    return median(times);
  };
  groove::jit::set_mode(groove::jit::Mode::kEager);
  run_all(first);
  const double eager = run_all(sizes);
  groove::jit::set_mode(groove::jit::Mode::kAuto);
  run_all(first);
  groove::jit::synchronize();
  run_all(first);
  const double new_size = run_all(sizes);
  const std::vector<std::int64_t> few(sizes.begin(), sizes.begin() + 20);
  run_all(few);
  const double seen = run_all(few);
  std::vector<std::int64_t> one(60, sizes[100]);
  run_all(one);
  groove::jit::synchronize();
  const double fixed = run_all(one);
  std::printf(
      "%s.eager %.1f us\n%s.first_sight %.1f us\n%s.seen_before %.1f us\n%s.one_size %.1f us\n",
      name, eager, name, new_size, name, seen, name, fixed);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Loops whose sizes are never the same.");
  bool explains = false;
  app.add_flag("--explain", explains, "tell about the segments at the end");
  CLI11_PARSE(app, argc, argv);
  groove::manual_seed(1);
  {
    const groove::InferenceMode guard;
    Tensor w = groove::randn({16, 24}), v = groove::randn({24, 4});
    measure("forward_10", [&](std::int64_t t) {
      Tensor x = groove::ones({t, 16});
      Tensor h = groove::relu(groove::matmul(x, w) + 1);
      Tensor y = groove::softmax(groove::matmul(h, v) * 0.5, 1);
      volatile double sum = (y * y).sum().item<double>();
      (void)sum;
    });
    measure("elementwise_30", [&](std::int64_t t) {
      Tensor x = groove::ones({t, 16});
      for (int i = 0; i < 10; ++i) x = (x * 1.5 + 0.5).tanh();
      volatile double sum = x.sum().item<double>();
      (void)sum;
    });
  }
  {
    groove::nn::Linear first(32, 64), second(64, 64), third(64, 8);
    std::vector<Tensor> parameters;
    for (const auto& layer : {first, second, third})
      for (const Tensor& p : layer->parameters()) parameters.push_back(p);
    groove::optim::Adam optimizer(parameters, groove::optim::AdamOptions(1e-3));
    measure("training_mlp", [&](std::int64_t t) {
      Tensor x = groove::ones({t, 32}), y = groove::zeros({t, 8});
      optimizer.zero_grad();
      Tensor h = second->forward(first->forward(x).relu()).relu();
      Tensor loss = groove::nn::functional::mse_loss(third->forward(h), y);
      loss.backward();
      optimizer.step();
      volatile double value = loss.item<double>();
      (void)value;
    });
  }
  if (explains) std::printf("%s\n", groove::jit::explain().c_str());
}
