// Is any step slowed down because the tracer watches, records, compiles or replays? Per loop: every
// step's time in eager mode, then in auto mode with background compilation from a cold start. A step
// counts as a stall when it takes more than 1.5 times the eager median + 1 ms. With --own-time, of
// the program's thread alone: on a busy machine too, but blind to waiting.
#include <groove/groove.h>

#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groove/jit.h"

namespace {

using groove::Tensor;
namespace nn = groove::nn;
namespace optim = groove::optim;

using Times = std::vector<double>;  // milliseconds
using Step = std::function<void(int)>;
// A loop makes its state and gives its step.
struct Loop {
  const char* name;
  std::function<Step()> make;
};

Step training() {
  struct State {
    nn::Sequential net{nn::Linear(64, 256), nn::ReLU(), nn::Linear(256, 256), nn::ReLU(),
                       nn::Linear(256, 10)};
    optim::Adam optimizer{net->parameters(), optim::AdamOptions(1e-3)};
    Tensor x = groove::randn({64, 64}), y = groove::randint(10, {64});
  };
  auto state = std::make_shared<State>();
  return [state](int) {
    state->optimizer.zero_grad();
    Tensor loss = nn::functional::cross_entropy(state->net->forward(state->x), state->y);
    loss.backward();
    state->optimizer.step();
  };
}

Step deep_training() {
  struct State {
    State() {
      for (int i = 0; i < 40; ++i) {
        layers.emplace_back(32, 32);
        for (const Tensor& parameter : layers.back()->parameters()) parameters.push_back(parameter);
      }
      optimizer = std::make_unique<optim::SGD>(parameters, optim::SGDOptions(1e-3).momentum(0.9));
    }
    std::vector<nn::Linear> layers;
    std::vector<Tensor> parameters;
    std::unique_ptr<optim::SGD> optimizer;
    Tensor x = groove::randn({16, 32});
  };
  auto state = std::make_shared<State>();
  return [state](int) {
    state->optimizer->zero_grad();
    Tensor h = state->x;
    for (nn::Linear& layer : state->layers) h = h + groove::tanh(layer(h));
    Tensor loss = h.pow(2).mean();
    loss.backward();
    state->optimizer->step();
  };
}

Step inference() {
  nn::Sequential net(nn::Linear(128, 512), nn::ReLU(), nn::Linear(512, 128));
  const Tensor x = groove::randn({8, 128});
  return [net, x](int) mutable {
    const groove::NoGradGuard guard;
    net->forward(x).sum().item<float>();
  };
}

Step varying_lengths() {
  nn::Linear cell(32, 32);
  return [cell](int i) mutable {
    const groove::NoGradGuard guard;
    Tensor h = groove::zeros({4, 32});
    for (int t = 0; t < 5 + i * 7 % 16; ++t) h = groove::tanh(cell(h) + 0.1);
    h.sum().item<float>();
  };
}

Step varying_shapes() {
  nn::Linear layer(32, 32);
  return [layer](int i) mutable {
    const groove::NoGradGuard guard;
    const Tensor x = groove::ones({1 + i * 5 % 50, 32});
    groove::relu(layer(x)).mean().item<float>();
  };
}

const Loop kLoops[] = {{"training", training},
                       {"deep training", deep_training},
                       {"inference", inference},
                       {"varying lengths", varying_lengths},
                       {"varying shapes", varying_shapes}};

clockid_t used_clock = CLOCK_MONOTONIC;

double milliseconds_now() {
  timespec now{};
  clock_gettime(used_clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

Times times_of(const Loop& loop, int steps) {
  groove::manual_seed(1);
  const Step step = loop.make();
  Times times;
  for (int i = 0; i < steps; ++i) {
    const double start = milliseconds_now();
    step(i);
    times.push_back(milliseconds_now() - start);
  }
  return times;
}

double at_quantile(Times times, double quantile) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(quantile * static_cast<double>(times.size() - 1))];
}

void report(const char* name, const char* mode, const Times& times, double limit) {
  const auto worst = std::max_element(times.begin(), times.end());
  const auto stalls = std::count_if(times.begin(), times.end(),
                                    [limit](double time) { return time > limit; });
  std::printf("%-16s %-6s p50 %8.3f ms  p99 %8.3f ms  max %8.3f ms (step %d)  stalls %d of %d\n",
              name, mode, at_quantile(times, 0.5), at_quantile(times, 0.99), *worst,
              static_cast<int>(worst - times.begin()), static_cast<int>(stalls),
              static_cast<int>(times.size()));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  int steps = 2000, warm_up = 50;
  bool is_own_time = false;
  std::string only;
  CLI::App app("Steps that are slower because of the tracer");
  app.add_option("--steps", steps, "steps of each loop");
  app.add_option("--warm-up", warm_up, "eager steps before the times count (kernels are made)");
  app.add_option("--loop", only, "only the loop of this name");
  app.add_flag("--own-time", is_own_time, "time of this thread instead of the wall clock's");
  CLI11_PARSE(app, count, words);
  if (is_own_time) used_clock = CLOCK_THREAD_CPUTIME_ID;
  for (const Loop& loop : kLoops) {
    if (!only.empty() && only != loop.name) continue;
    groove::jit::set_mode(groove::jit::Mode::kEager);
    times_of(loop, warm_up);
    const Times eager = times_of(loop, steps);
    const double limit = 1.5 * at_quantile(eager, 0.5) + 1;
    report(loop.name, "eager", eager, limit);
    groove::jit::set_mode(groove::jit::Mode::kAuto);
    const Times traced = times_of(loop, steps);
    report(loop.name, "auto", traced, limit);
    for (std::size_t i = 0, shown = 0; i < traced.size() && shown < 12; ++i)
      if (traced[i] > limit) {
        std::printf("    step %zu: %.3f ms\n", i, traced[i]);
        ++shown;
      }
    groove::jit::synchronize();
  }
  return 0;
}
