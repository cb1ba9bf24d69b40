// What a parallel region costs: a barrier between two of its levels, opening one, a launch that
// depends on no other, and how a training step fares when other processes keep the cores busy (with
// all threads, and with one for comparison).
#include <groove/groove.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "groove/jit.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "kernels/pool.h"
#include "src/core/graph.h"

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

struct Spread {
  double median, mean, slowest;
};

template <typename Body>
Spread spread(int turns, const Body& body) {
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    const Clock::time_point start = Clock::now();
    body();
    times.push_back(since(start));
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += time;
  return {times[times.size() / 2], sum / static_cast<double>(times.size()),
          times[times.size() * 99 / 100]};
}

void empty_levels(int levels) {
  groove::kernels::parallel_levels(
      levels, groove::kernels::num_threads(), [](void*, int, int, int) {}, nullptr);
}

void barriers() {
  constexpr int kFew = 2, kMany = 62;
  empty_levels(kMany);
  const double few = spread(4001, [] { empty_levels(kFew); }).median;
  const double many = spread(4001, [] { empty_levels(kMany); }).median;
  std::printf("%d threads: a region of %d levels takes %.0f ns, each further level %.0f ns\n",
              groove::kernels::num_threads(), kFew, few, (many - few) / (kMany - kFew));
}

// A step of maps over 16 elements each, of one level: all alike, or no two.
double maps(int count, bool are_alike) {
  std::string inputs, body, outputs;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), comma = i > 0 ? ", " : "";
    inputs += comma + "x" + n + ": f32[16]";
    std::string value = "x" + n;
    // The bits of a number say which of two operators comes next.
    for (int bit = 0; bit < 6; ++bit) {
      const bool is_set = !are_alike && (i >> bit & 1) != 0;
      const std::string next = "y" + n + "_" + std::to_string(bit);
      body += next + (is_set ? " = mul(" : " = add(") + value + ", x" + n + ")\n";
      value = next;
    }
    outputs += comma + value;
  }
  groove::Graph graph =
      groove::parse_graph("graph(" + inputs + ") {\n" + body + "return " + outputs + "\n}\n");
  groove::jit::run_pipeline(graph);
  const groove::jit::Program program(std::move(graph));
  const auto size = static_cast<std::int64_t>(program.arena_bytes() + 64);
  const groove::Tensor arena = groove::empty({size / 4}), memory = groove::zeros({2 * count, 16});
  std::vector<void*> buffers;
  for (int i = 0; i < 2 * count; ++i) buffers.push_back(memory.data_ptr<float>() + 16 * i);
  groove::ProgramContext context;
  context.arena = arena.data_ptr();
  constexpr int kRuns = 100;
  const Spread time = spread(401, [&] {
    for (int run = 0; run < kRuns; ++run) program.run(buffers.data(), nullptr, nullptr, context);
  });
  return time.median / kRuns;
}

void launches() {
  constexpr int kFew = 4, kMany = 60;
  for (const bool are_alike : {false, true}) {
    const double each = (maps(kMany, are_alike) - maps(kFew, are_alike)) / (kMany - kFew);
    std::printf("a further map of 16 elements in a level, %s: %.1f ns\n",
                are_alike ? "equal to the others" : "unlike any other", each);
  }
}

// Processes that do nothing but compute.
class Load {
 public:
  explicit Load(int processes) {
    for (int i = 0; i < processes; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (std::atomic<std::uint64_t> count{0};;) count.fetch_add(1, std::memory_order_relaxed);
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~Load() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::vector<pid_t> children_;
};

void training(int processes, int steps) {
  groove::manual_seed(1);
  groove::nn::Sequential net(groove::nn::Linear(784, 128), groove::nn::ReLU(),
                             groove::nn::Linear(128, 128), groove::nn::ReLU(),
                             groove::nn::Linear(128, 10));
  groove::optim::Adam adam(net->parameters(), groove::optim::AdamOptions(1e-3));
  const groove::Tensor x = groove::randn({64, 784});
  const groove::Tensor y = groove::randint(0, 10, {64}, groove::kLong);
  const auto step = [&] {
    adam.zero_grad();
    const groove::Tensor loss = groove::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    adam.step();
    loss.item<float>();
  };
  for (int i = 0; i < 200; ++i) step();
  groove::jit::synchronize();
  for (int i = 0; i < 200; ++i) step();
  const int all = groove::kernels::num_threads();
  for (const int busy : {0, processes}) {
    const Load load(busy);
    for (const int threads : {1, all}) {
      groove::set_num_threads(threads);
      for (int i = 0; i < 20; ++i) step();
      const Spread time = spread(steps, step);
      std::printf(
          "%d busy processes, %d threads: a step takes %.0f us (mean %.0f us, of 100 the "
          "slowest %.0f us)\n",
          busy, threads, 1e-3 * time.median, 1e-3 * time.mean, 1e-3 * time.slowest);
      std::fflush(stdout);
    }
    if (processes == 0) break;
  }
  groove::set_num_threads(all);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the parallel region: its barriers, launches, and training steps on a busy machine.");
  int processes = 4, steps = 2000;
  app.add_option("--busy", processes, "processes that keep the cores busy")
      ->check(CLI::Range(0, 1000));
  app.add_option("--steps", steps, "per line")->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  groove::kernels::set_never_serial(true);  // what a region costs, whether it pays or not
  barriers();
  launches();
  groove::kernels::set_never_serial(false);
  training(processes, steps);
}
