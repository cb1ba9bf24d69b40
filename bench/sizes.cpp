// Small models whose sizes never settle: batches of 1 to 64 rows, experts that get rows by value,
// rows chosen by a mask, sequences of 1 to 100. Each loop in pairs of fresh processes, eager and
// automatic: time of the whole run and of its last half against eager mode's, the share that ran
// compiled, and the last step during which something was compiled.
#include <groove/groove.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groove/jit.h"

namespace {

using groove::Tensor;
namespace nn = groove::nn;
namespace optim = groove::optim;

using Step = std::function<Tensor(int)>;  // gives the loss

int width = 32;

nn::Sequential network(std::int64_t in, std::int64_t out) {
  return nn::Sequential(nn::Linear(in, width), nn::Tanh(), nn::Linear(width, out));
}

// A drawn number of 1 … most that does not depend on the library's generator.
int drawn(int step, int most) {
  auto bits = static_cast<std::uint64_t>(step + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  return 1 + static_cast<int>((bits >> 33) % static_cast<std::uint64_t>(most));
}

Step learn(std::vector<Tensor> parameters, std::function<Tensor(int)> loss_of) {
  auto optimizer = std::make_shared<optim::Adam>(parameters, optim::AdamOptions(1e-3));
  return [optimizer, loss_of](int step) {
    optimizer->zero_grad();
    Tensor loss = loss_of(step);
    loss.backward();
    optimizer->step();
    return loss;
  };
}

Step ragged_batches() {
  auto net = network(8, 1);
  return learn(net->parameters(), [net](int step) mutable {
    const Tensor x = groove::randn({drawn(step, 64), 8});
    return nn::functional::mse_loss(net->forward(x), x.sum(1, true));
  });
}

Step masks() {
  auto net = network(8, 1);
  return learn(net->parameters(), [net](int) mutable {
    const Tensor all = groove::randn({64, 8});
    const Tensor x = all.index({all.select(1, 0) > 0.1});
    return nn::functional::mse_loss(net->forward(x), x.sum(1, true));
  });
}

Step experts() {
  auto gate = nn::Linear(8, 4);
  std::vector<nn::Sequential> of;
  std::vector<Tensor> parameters = gate->parameters();
  for (int i = 0; i < 4; ++i) {
    of.push_back(network(8, 1));
    for (const Tensor& p : of.back()->parameters()) parameters.push_back(p);
  }
  return learn(parameters, [gate, of](int) mutable {
    const Tensor x = groove::randn({64, 8});
    const Tensor scores = groove::softmax(gate(x), 1);
    const Tensor chosen = scores.argmax(1);
    Tensor y = groove::zeros({64, 1});
    for (int i = 0; i < 4; ++i) {
      const Tensor rows = groove::nonzero(chosen == i).squeeze(1);
      if (rows.numel() == 0) continue;
      const Tensor part = of[static_cast<std::size_t>(i)]->forward(x.index_select(0, rows));
      y = y.index_add(0, rows, part * scores.index_select(0, rows).narrow(1, i, 1));
    }
    return nn::functional::mse_loss(y, x.sum(1, true));
  });
}

Step sequences() {
  auto cell = nn::Linear(2 * width, width);
  auto head = nn::Linear(width, 1);
  std::vector<Tensor> parameters = cell->parameters();
  for (const Tensor& p : head->parameters()) parameters.push_back(p);
  return learn(parameters, [cell, head](int step) mutable {
    Tensor h = groove::zeros({4, width});
    for (int t = drawn(step, 100); t > 0; --t)
      h = groove::tanh(cell(groove::cat({h, groove::randn({4, width})}, 1)));
    return head(h).pow(2).mean();
  });
}

Step attention() {
  auto in = nn::Linear(width, 3 * width);
  auto out = nn::Linear(width, width);
  std::vector<Tensor> parameters = in->parameters();
  for (const Tensor& p : out->parameters()) parameters.push_back(p);
  return learn(parameters, [in, out](int step) mutable {
    const Tensor x = groove::randn({drawn(step, 100), width});
    const auto parts = in(x).chunk(3, 1);
    const Tensor a = groove::softmax(parts[0].matmul(parts[1].t()) * 0.2, 1);
    return nn::functional::mse_loss(out(a.matmul(parts[2])), x);
  });
}

struct Loop {
  const char* name;
  Step (*make)();
};
const Loop kLoops[] = {{"ragged batches of 1..64", ragged_batches},
                       {"rows by a mask", masks},
                       {"experts by value", experts},
                       {"recurrent, 1..100 steps", sequences},
                       {"attention, 1..100 tokens", attention}};

struct Run {
  double whole, last_half, share, loss;
  int last_compiling;  // step
};

Run run(const Loop& loop, int steps, groove::jit::Mode mode) {
  groove::jit::set_mode(mode);
  groove::manual_seed(1);
  using Clock = std::chrono::steady_clock;
  Run result{};
  const auto start = Clock::now();
  auto half = start;
  const Step step = loop.make();
  double compiling = 0;
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 2) half = Clock::now();
    result.loss += static_cast<double>(step(i).item<float>());
    if (i % 10 == 9 && mode == groove::jit::Mode::kAuto) {
      const double now = groove::jit::summary().compile_milliseconds;
      if (now > compiling) result.last_compiling = i;
      compiling = now;
    }
  }
  const auto end = Clock::now();
  result.whole = std::chrono::duration<double>(end - start).count();
  result.last_half = std::chrono::duration<double>(end - half).count();
  const auto counts = groove::jit::summary();
  result.share =
      static_cast<double>(counts.ops_compiled) /
      static_cast<double>(std::max<std::uint64_t>(1, counts.ops_compiled + counts.ops_eager));
  return result;
}

// In a process of its own, so that nothing is warm.
Run run_apart(const Loop& loop, int steps, groove::jit::Mode mode) {
  void* memory =
      ::mmap(nullptr, sizeof(Run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Run{};
  std::fflush(nullptr);
  if (const pid_t child = ::fork(); child == 0) {
    *shared = run(loop, steps, mode);
    ::_exit(0);
  } else {
    ::waitpid(child, nullptr, 0);
  }
  const Run result = *shared;
  ::munmap(memory, sizeof(Run));
  return result;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  int steps = 2000, pairs = 5;
  std::string only;
  CLI::App app("Small models at sizes that never settle, automatic mode against eager mode");
  app.add_option("--steps", steps, "of each loop");
  app.add_option("--pairs", pairs, "of processes, eager and automatic in turns");
  app.add_option("--width", width, "of the hidden layers");
  app.add_option("--loop", only, "only those with this in their name");
  CLI11_PARSE(app, count, words);
  groove::set_num_threads(1);
  std::printf("%-26s %10s %8s %10s %9s %15s\n", "", "eager us", "whole", "last half", "compiled",
              "last compiling");
  for (const Loop& loop : kLoops) {
    if (std::string(loop.name).find(only) == std::string::npos) continue;
    std::vector<double> eager_step, whole, last, share, compiling;
    bool has_same_bits = true;
    for (int pair = 0; pair < pairs; ++pair) {
      const Run eager = run_apart(loop, steps, groove::jit::Mode::kEager);
      const Run traced = run_apart(loop, steps, groove::jit::Mode::kAuto);
      eager_step.push_back(1e6 * eager.whole / steps);
      whole.push_back(traced.whole / eager.whole);
      last.push_back(traced.last_half / eager.last_half);
      share.push_back(traced.share);
      compiling.push_back(traced.last_compiling);
      has_same_bits &= std::memcmp(&eager.loss, &traced.loss, sizeof eager.loss) == 0;
    }
    std::printf("%-26s %10.1f %8.2f %10.2f %8.1f%% %15.0f%s\n", loop.name, middle(eager_step),
                middle(whole), middle(last), 100 * middle(share), middle(compiling),
                has_same_bits ? "" : "  OTHER BITS");
    std::fflush(stdout);
  }
  return 0;
}
