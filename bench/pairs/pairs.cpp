#include "bench/pairs/pairs.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "bench/median.h"
#include "groove/jit.h"

namespace pairs {
namespace {

using groove::Tensor;
namespace nn = groove::nn;
namespace optim = groove::optim;

struct Part {
  double seconds, share;
};

struct Run {
  Part whole, last_half;
  double loss;
  int last_compiling;  // step
};

// What has run up to a point in time.
class Mark {
 public:
  Mark() : counts_(groove::jit::summary()), time_(Clock::now()) {}

  Part until(const Mark& other) const {
    const auto compiled = static_cast<double>(other.counts_.ops_compiled - counts_.ops_compiled);
    const auto eager = static_cast<double>(other.counts_.ops_eager - counts_.ops_eager);
    return {std::chrono::duration<double>(other.time_ - time_).count(),
            compiled / std::max(1.0, compiled + eager)};
  }

 private:
  using Clock = std::chrono::steady_clock;
  groove::jit::Summary counts_;
  Clock::time_point time_;
};

Run run(const Loop& loop, int steps, groove::jit::Mode mode) {
  groove::jit::set_mode(mode);
  groove::manual_seed(1);
  Run result{};
  const Mark start;
  Mark half = start;
  const Step step = loop.make();
  double compiling = 0;
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 2) half = Mark();
    result.loss += static_cast<double>(step(i).item<float>());
    if (i % 10 == 9 && mode == groove::jit::Mode::kAuto) {
      const double now = groove::jit::summary().compile_milliseconds;
      if (now > compiling) result.last_compiling = i;
      compiling = now;
    }
  }
  const Mark end;
  result.whole = start.until(end);
  result.last_half = half.until(end);
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

}  // namespace

Pairs::Pairs(CLI::App& app) {
  app.add_option("--steps", steps_, "of each loop");
  app.add_option("--pairs", pairs_, "of processes, eager and automatic in turns");
  app.add_option("--loop", only_, "only those with this in their name");
}

bool Pairs::compare(const std::vector<Loop>& loops) const {
  groove::set_num_threads(1);
  std::printf("%-42s %9s %6s %9s %9s %9s %14s\n", "", "eager us", "whole", "last half", "compiled",
              "last half", "last compiling");
  bool have_same_bits = true;
  for (const Loop& loop : loops) {
    if (loop.name.find(only_) == std::string::npos) continue;
    std::vector<double> eager_step, whole, last, share, last_share, compiling;
    bool has_same_bits = true;
    for (int pair = 0; pair < pairs_; ++pair) {
      const Run eager = run_apart(loop, steps_, groove::jit::Mode::kEager);
      const Run traced = run_apart(loop, steps_, groove::jit::Mode::kAuto);
      eager_step.push_back(1e6 * eager.whole.seconds / steps_);
      whole.push_back(traced.whole.seconds / eager.whole.seconds);
      last.push_back(traced.last_half.seconds / eager.last_half.seconds);
      share.push_back(traced.whole.share);
      last_share.push_back(traced.last_half.share);
      compiling.push_back(traced.last_compiling);
      has_same_bits &= std::memcmp(&eager.loss, &traced.loss, sizeof eager.loss) == 0;
    }
    std::printf("%-42s %9.1f %6.2f %9.2f %8.1f%% %8.1f%% %14.0f%s\n", loop.name.c_str(),
                median(eager_step), median(whole), median(last), 100 * median(share),
                100 * median(last_share), median(compiling), has_same_bits ? "" : "  OTHER BITS");
    std::fflush(stdout);
    have_same_bits &= has_same_bits;
  }
  return have_same_bits;
}

Step learn(std::vector<Tensor> parameters, std::function<Tensor(int)> loss_of) {
  auto optimizer = std::make_shared<optim::Adam>(std::move(parameters), optim::AdamOptions(1e-3));
  return [optimizer, loss_of = std::move(loss_of)](int step) {
    optimizer->zero_grad();
    Tensor loss = loss_of(step);
    loss.backward();
    optimizer->step();
    return loss;
  };
}

nn::Sequential network(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return nn::Sequential(nn::Linear(in, hidden), nn::Tanh(), nn::Linear(hidden, out));
}

}  // namespace pairs
